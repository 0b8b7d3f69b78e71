#include "traversal/classification/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rayreplay::traversal {
namespace {

constexpr double kFloatUnit = 0x1p-24;
constexpr double kMinUnit = 0x1p-48;  ///< what this code itself may round

/// t_star rounded up.
double latest(float t_star, double unit) {
  const auto t = static_cast<double>(t_star);
  return t + std::abs(t) * unit;
}

}  // namespace

Judge::Judge(const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged, double slack, double enlarged_slack,
             const KnownHardware& known)
    : scene_(&scene),
      enlarged_(&enlarged),
      unit_(std::max(slack * kFloatUnit, kMinUnit)),
      enlarged_unit_(std::max(enlarged_slack * kFloatUnit, kMinUnit)),
      known_(known) {}

bool Judge::beyond(float t, float t_star) const {
  return static_cast<double>(t) > latest(t_star, unit_);
}

Verdict Judge::judge(JudgedRay& ray, const JudgedTest& test, float t_star) const {
  const Candidate& candidate = test.candidate;
  const bvh::SceneInstance& instance = scene_->instances[candidate.instance];
  const std::uint32_t blas = instance.blas;
  if (!instance.active) {
    const bool necessary = test.hit && !beyond(test.t, t_star);
    return {necessary ? TestKind::Necessary : TestKind::Enlargement, std::numeric_limits<float>::quiet_NaN(), true,
            false};
  }
  if (ray.instance_ != candidate.instance) {
    ray.slab_ = instance.identity ? slab_ray(ray.ray_) : slab_ray(ray.ray_, instance.to_object);
    ray.instance_ = candidate.instance;
  }
  const std::uint32_t number = scene_->blases[blas].first_primitive[candidate.geometry] + candidate.primitive;
  const bvh::Box box = scene_->primitive_box(blas, number);
  SlabEntry original = enter(box, ray.slab_, ray.t_min_, ray.t_max_, unit_);
  if (test.hit && !test.procedural && !box.empty()) {
    const auto t = static_cast<double>(test.t);
    original = {true, original.met ? std::min(original.entry, t) : t, true};
  }
  Verdict verdict;
  verdict.inactive = box.empty();
  verdict.t_enter = original.met ? static_cast<float>(original.entry) : std::numeric_limits<float>::quiet_NaN();
  const double last = latest(t_star, unit_);
  if (test.hit && static_cast<double>(test.t) <= last) {
    verdict.kind = TestKind::Necessary;
  } else if (!original.met) {
    verdict.kind = original.met_from_origin && !known_.clips ? TestKind::BeforeTMin : TestKind::Enlargement;
  } else if (original.entry <= last) {
    verdict.kind = test.hit ? TestKind::Overlap : TestKind::BoxMiss;
  } else {
    verdict.kind = TestKind::Order;
    verdict.late = original.entry > latest(test.t_max, unit_);
    for (std::size_t model = 0; model < enlarged_->models(); ++model) {
      const SlabEntry entry =
          enter(enlarged_->box(model, blas, number), ray.slab_, ray.t_min_, ray.t_max_, enlarged_unit_);
      if (entry.met && entry.entry <= latest(t_star, enlarged_unit_)) {
        verdict.kind = known_.culls && verdict.late ? TestKind::Enlargement : TestKind::EnlargementOrOrder;
        break;
      }
    }
  }
  return verdict;
}

}  // namespace rayreplay::traversal
