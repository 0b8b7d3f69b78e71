// The search of one ray: which instances it enters, which candidates count, and the closest hit. A traversal decides
// only the order of visits.
//
// Contract: Vulkan's rules.
// - An instance is entered if its mask and the ray's cull mask share a bit and the ray meets the instance's own world
//   box (SceneInstance::world) within [t_min, limit], whatever larger box the layout holds (without Bvh::own_boxes that
//   box is not tested).
// - Opacity: the ray's flags (Opaque, NoOpaque) override the instance's (FORCE_OPAQUE, FORCE_NO_OPAQUE), which override
//   the geometry's. Ray flags SkipTriangles, SkipBoxes, CullOpaque and CullNoOpaque drop candidates before any test.
//   Facing culls follow a triangle's test, unless the instance has TRIANGLE_FACING_CULL_DISABLE; TRIANGLE_FLIP_FACING
//   inverts facing for culls and hit kinds.
// - A triangle is hit if kernels/triangle.hpp says so, the ray meets the triangle's own tight box, and t (as a float)
//   lies in [t_min, limit]. A t that rounding put before the entry of that box or of the instance's is raised to the
//   entry, before the comparison with t_min: a ray that starts in the plane of a face with t_min = 0 hits it at 0.
// - A box primitive is tested if the ray meets its own box in [t_min, limit] (without Bvh::own_boxes always): its
//   intersection shader is called, and reports in [t_min, limit] count.
// - A hit at the present closest t counts only if its (instance, geometry, primitive) is lower. Hits that count and are
//   not opaque are put to any-hit; accepted ones become the limit and end rays with TerminateOnFirstHit.
// Every layout's box contains the own boxes of its contents, and the slab test is monotone: a candidate that counts is
// always met, and entered no later than its t. The closest hit is therefore the same bits for all traversals, layouts,
// orders and builders, if shaders of box primitives report no t before the ray enters the box.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

#include "bvh/bvh.hpp"
#include "traversal/kernels/ray_space.hpp"
#include "traversal/kernels/triangle.hpp"
#include "traversal/ray.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

/// VkGeometryInstanceFlagBitsKHR
inline constexpr std::uint8_t kInstanceCullDisable = 1;
inline constexpr std::uint8_t kInstanceFlipFacing = 2;
inline constexpr std::uint8_t kInstanceForceOpaque = 4;
inline constexpr std::uint8_t kInstanceForceNoOpaque = 8;

/// An instance that the ray has entered.
struct InstanceVisit {
  std::uint32_t instance = 0;
  std::uint32_t blas = 0;
  std::uint8_t flags = 0;
  float entry = 0;  ///< into its world box
  RaySpace space;
};

template <class Observer>
class Search {
 public:
  Search(const bvh::Bvh& bvh, const Shaders* shaders, Observer& observer)
      : bvh_(&bvh), shaders_(shaders), observer_(&observer) {}

  /// The ray must be traversable. `row`: its index in the batch, for the shaders.
  void begin(std::size_t row, const Ray& ray) {
    begin(row, ray, world_space(ray));
  }
  void begin(std::size_t row, const Ray& ray, const RaySpace& world) {
    start(row, ray) = world;
  }
  /// The same for a caller that fills the returned world-space ray itself.
  [[nodiscard]] RaySpace& start(std::size_t row, const Ray& ray) {
    row_ = row;
    ray_ = &ray;
    limit_ = std::min(ray.t_max, bvh::kFarthest);
    done_ = !(ray.t_min <= limit_);
    hit_ = {};
    observer_->start();
    return world_;
  }

  [[nodiscard]] const Ray& ray() const {
    return *ray_;
  }
  [[nodiscard]] const RaySpace& world() const {
    return world_;
  }
  /// The current t_max: anything entered beyond it need not be visited.
  [[nodiscard]] float limit() const {
    return limit_;
  }
  [[nodiscard]] bool done() const {
    return done_;
  }
  [[nodiscard]] const Hit& hit() const {
    return hit_;
  }
  [[nodiscard]] Observer& observer() {
    return *observer_;
  }

  /// Reads the instance's record; false if the ray does not enter it.
  [[nodiscard]] bool enter(std::uint32_t instance, InstanceVisit& visit) {
    observer_->read_instance(instance);
    const trace::Instance& source = bvh_->scene.source(instance);
    const bvh::SceneInstance& prepared = bvh_->scene.instances[instance];
    if ((source.mask & ray_->cull_mask) == 0) {
      return false;
    }
    bvh::BoxEntry entry = bvh::meet(prepared.world, world_.box, limit_);
    if (!entry.met) {
      if (bvh_->own_boxes) {
        return false;
      }
      entry.entry = ray_->t_min;
    }
    observer_->enter_instance();
    visit.instance = instance;
    visit.blas = prepared.blas;
    visit.flags = source.flags;
    visit.entry = entry.entry;
    visit.space = prepared.identity ? world_ : object_space(world_, prepared.to_object);
    return true;
  }

  /// Tests primitive `number` (dense, of the visit's blas).
  void test(const InstanceVisit& visit, std::uint32_t number) {
    const auto [index, primitive] = bvh_->scene.locate(visit.blas, number);
    const std::size_t row = bvh_->scene.blases[visit.blas].first_geometry + std::size_t{index};
    const trace::Geometry& geometry = bvh_->scene.scene->geometries[row];
    const bool is_box = geometry.type == trace::GeometryType::Boxes;
    const bool opaque = is_opaque(visit, geometry);
    if (is_left_out(is_box, opaque)) {
      return;
    }
    const Candidate candidate{visit.instance, index, primitive};
    if (is_box) {
      test_box(visit, geometry, row, candidate, opaque);
    } else {
      test_triangle(visit, geometry, row, candidate, opaque);
    }
  }

  /// `test` for a triangle known to be pierced, opaque and not culled. `corner`: its vertices.
  void offer_opaque(const InstanceVisit& visit, const TrianglePoint& point, const std::array<const float*, 3>& corner,
                    std::uint32_t number) {
    float t = static_cast<float>(point.t);
    if (!is_reached(visit, corner, t)) {
      return;
    }
    const auto [index, primitive] = bvh_->scene.locate(visit.blas, number);
    const Candidate candidate{visit.instance, index, primitive};
    if (counts(t, candidate)) {
      take_triangle(visit, candidate, point, t);
    }
  }

  /// Whether all triangles of the visited structure count by their distance alone, so that `offer_opaque` replaces
  /// `test`. `opaque`: all its geometries are opaque.
  [[nodiscard]] bool takes_all_triangles(const InstanceVisit& visit, bool opaque) const {
    constexpr unsigned kOthers = trace::kRayFlagNoOpaque | trace::kRayFlagCullBackFacing |
                                 trace::kRayFlagCullFrontFacing | trace::kRayFlagCullOpaque |
                                 trace::kRayFlagSkipTriangles;
    const bool all_opaque = has(trace::kRayFlagOpaque) || (visit.flags & kInstanceForceOpaque) != 0 ||
                            (opaque && (visit.flags & kInstanceForceNoOpaque) == 0);
    return all_opaque && (ray_->flags & kOthers) == 0;
  }

  /// Entry of the ray into the own box of a primitive, in [t_min, limit].
  [[nodiscard]] bvh::BoxEntry enter_primitive(const InstanceVisit& visit, std::uint32_t number) const {
    return bvh::meet(bvh_->scene.primitive_box(visit.blas, number), visit.space.box, limit_);
  }

 private:
  [[nodiscard]] bool has(trace::RayFlags flag) const {
    return (ray_->flags & flag) != 0;
  }

  [[nodiscard]] bool is_opaque(const InstanceVisit& visit, const trace::Geometry& geometry) const {
    if (has(trace::kRayFlagOpaque)) {
      return true;
    }
    if (has(trace::kRayFlagNoOpaque)) {
      return false;
    }
    if ((visit.flags & kInstanceForceOpaque) != 0) {
      return true;
    }
    return (visit.flags & kInstanceForceNoOpaque) == 0 && geometry.opaque;
  }

  [[nodiscard]] bool is_left_out(bool is_box, bool opaque) const {
    return has(is_box ? trace::kRayFlagSkipBoxes : trace::kRayFlagSkipTriangles) ||
           has(opaque ? trace::kRayFlagCullOpaque : trace::kRayFlagCullNoOpaque);
  }

  [[nodiscard]] bool is_culled(const InstanceVisit& visit, bool front) const {
    return (visit.flags & kInstanceCullDisable) == 0 &&
           has(front ? trace::kRayFlagCullFrontFacing : trace::kRayFlagCullBackFacing);
  }

  [[nodiscard]] static bool is_front(const InstanceVisit& visit, const TrianglePoint& point) {
    return point.front != ((visit.flags & kInstanceFlipFacing) != 0);
  }

  /// Whether the pierced triangle lies in [t_min, limit]; raises t to the entries of the boxes (contract).
  [[nodiscard]] bool is_reached(const InstanceVisit& visit, const std::array<const float*, 3>& corner, float& t) const {
    if (!(t <= limit_)) {
      return false;
    }
    bvh::Box box;
    for (unsigned axis = 0; axis < 3; ++axis) {
      box.low[axis] = std::min(std::min(corner[0][axis], corner[1][axis]), corner[2][axis]);
      box.high[axis] = std::max(std::max(corner[0][axis], corner[1][axis]), corner[2][axis]);
    }
    if (!(t >= ray_->t_min)) {
      bvh::BoxRay line = visit.space.box;
      line.t_min = -kNowhere;
      t = std::max(t, bvh::meet(box, line, limit_).entry);
      if (!(t >= ray_->t_min)) {
        return false;
      }
    }
    const bvh::BoxEntry entry = bvh::meet(box, visit.space.box, limit_);
    if (!entry.met) {
      return false;
    }
    t = std::max(t, std::max(entry.entry, visit.entry));
    return t <= limit_;
  }

  [[nodiscard]] bool counts(float t, const Candidate& candidate) const {
    return t < limit_ || !hit_.found() ||
           std::tie(candidate.instance, candidate.geometry, candidate.primitive) <
               std::tie(hit_.instance, hit_.geometry, hit_.primitive);
  }

  [[nodiscard]] bool is_accepted(const Candidate& candidate, float t, std::uint8_t hit_kind, bool opaque) {
    if (opaque) {
      return true;
    }
    observer_->any_hit();
    return shaders_ == nullptr || shaders_->accept(row_, candidate, t, hit_kind);
  }

  void take(const Hit& hit) {
    hit_ = hit;
    hit_.t += 0.0F;  // −0 becomes 0: a maximum of zeros may return either
    limit_ = hit.t;
    done_ = ray_->ends_on_first_hit();
  }

  void take_triangle(const InstanceVisit& visit, const Candidate& candidate, const TrianglePoint& point, float t) {
    const float u = std::clamp(static_cast<float>(point.u), 0.0F, 1.0F);
    const float v = std::clamp(static_cast<float>(point.v), 0.0F, 1.0F - u);
    take({t, candidate.instance, candidate.geometry, candidate.primitive, u, v,
          is_front(visit, point) ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing});
  }

  void test_triangle(const InstanceVisit& visit, const trace::Geometry& geometry, std::size_t row,
                     const Candidate& candidate, bool opaque) {
    observer_->triangle(row, candidate.primitive);
    const std::uint32_t* index = &geometry.indices[std::size_t{candidate.primitive} * 3];
    const std::array corner{&geometry.vertices[std::size_t{index[0]} * 3],
                            &geometry.vertices[std::size_t{index[1]} * 3],
                            &geometry.vertices[std::size_t{index[2]} * 3]};
    const TrianglePoint point = intersect_triangle(visit.space.precise, corner[0], corner[1], corner[2]);
    PrimitiveTest test{.candidate = candidate, .t_max = limit_, .t = kNowhere};
    if (point.pierced && !is_culled(visit, is_front(visit, point))) {
      test.t = static_cast<float>(point.t);
      test.hit = is_reached(visit, corner, test.t);
      if (test.hit && counts(test.t, candidate)) {
        const std::uint8_t kind = is_front(visit, point) ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing;
        test.accepted = is_accepted(candidate, test.t, kind, opaque);
        if (test.accepted) {
          take_triangle(visit, candidate, point, test.t);
        }
      }
    }
    observer_->test(test);
  }

  void test_box(const InstanceVisit& visit, const trace::Geometry& geometry, std::size_t row,
                const Candidate& candidate, bool opaque) {
    observer_->read_box(row, candidate.primitive);
    const float* b = &geometry.boxes[std::size_t{candidate.primitive} * 6];
    const bvh::Box box{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}};
    if (bvh_->own_boxes && !bvh::meet(box, visit.space.box, limit_).met) {
      return;
    }
    observer_->procedural();
    PrimitiveTest test{.candidate = candidate, .t_max = limit_, .t = kNowhere, .procedural = true};
    const Report report = shaders_ == nullptr ? Report{} : shaders_->intersect(row_, candidate, limit_);
    if (report.found) {
      test.t = report.t;
      test.hit = report.t >= ray_->t_min && report.t <= limit_;
      if (test.hit && counts(report.t, candidate)) {
        test.accepted = is_accepted(candidate, report.t, report.hit_kind, opaque);
        if (test.accepted) {
          take({report.t, candidate.instance, candidate.geometry, candidate.primitive, 0, 0, report.hit_kind});
        }
      }
    }
    observer_->test(test);
  }

  static constexpr float kNowhere = std::numeric_limits<float>::infinity();

  const bvh::Bvh* bvh_;
  const Shaders* shaders_;
  Observer* observer_;
  std::size_t row_ = 0;
  const Ray* ray_ = nullptr;
  RaySpace world_;
  float limit_ = 0;
  bool done_ = false;
  Hit hit_;
};

}  // namespace rayreplay::traversal
