#include "traversal/classification/ground_truth.hpp"

#include "traversal/kernels/ray_space.hpp"
#include "traversal/kernels/triangle.hpp"

namespace rayreplay::traversal {
namespace {

constexpr unsigned kCullDisable = 1;  // VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR
constexpr unsigned kFlipFacing = 2;   // VK_GEOMETRY_INSTANCE_TRIANGLE_FLIP_FACING_BIT_KHR

ReportedHit pierce(const bvh::PreparedScene& scene, const trace::Geometry& geometry, const Ray& ray,
                   const Candidate& candidate) {
  const bvh::SceneInstance& instance = scene.instances[candidate.instance];
  const RaySpace world = world_space(ray);
  const RaySpace space = instance.identity ? world : object_space(world, instance.to_object);
  const std::uint32_t* index = &geometry.indices[std::size_t{candidate.primitive} * 3];
  const auto corner = [&](std::size_t i) { return &geometry.vertices[std::size_t{index[i]} * 3]; };
  const TrianglePoint point = intersect_triangle(space.precise, corner(0), corner(1), corner(2));
  const unsigned flags = scene.source(candidate.instance).flags;
  const bool front = point.front != ((flags & kFlipFacing) != 0);
  const bool culled = (flags & kCullDisable) == 0 &&
                      (ray.flags & (front ? trace::kRayFlagCullFrontFacing : trace::kRayFlagCullBackFacing)) != 0;
  const auto t = static_cast<float>(point.t);
  return point.pierced && !culled && t >= ray.t_min && t <= ray.t_max ? ReportedHit{true, t} : ReportedHit{};
}

}  // namespace

const char* to_string(Cause cause) {
  constexpr std::array<const char*, kCauses> kNames{"necessary", "box miss", "R1 overlap", "enlargement",
                                                    "order",     "either",   "joint"};
  return kNames[static_cast<std::size_t>(cause)];
}

bool is_base(Cause cause) {
  return cause == Cause::Necessary || cause == Cause::BoxMiss || cause == Cause::Overlap;
}

bool contradicts(Cause cause, TestKind kind) {
  switch (kind) {
    case TestKind::Necessary:
      return cause != Cause::Necessary;
    case TestKind::BoxMiss:
      return cause != Cause::BoxMiss;
    case TestKind::Overlap:
      return cause != Cause::Overlap;
    case TestKind::Enlargement:
    case TestKind::BeforeTMin:  // never simulated (simulate.hpp): exact boxes are clipped to t_min
      return cause != Cause::Enlargement && cause != Cause::Joint;
    case TestKind::Order:
      return cause != Cause::Order && cause != Cause::Joint;
    case TestKind::EnlargementOrOrder:
      return is_base(cause);
  }
  return true;
}

void GroundTruth::add(const GroundTruth& other) {
  rounding += other.rounding;
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
      tests[cause][kind] += other.tests[cause][kind];
    }
  }
}

std::uint64_t GroundTruth::total() const {
  std::uint64_t result = 0;
  for (const KindCounts& counts : tests) {
    result += sum(counts);
  }
  return result;
}

std::uint64_t GroundTruth::wrong() const {
  std::uint64_t result = 0;
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
      result += contradicts(static_cast<Cause>(cause), static_cast<TestKind>(kind)) ? tests[cause][kind] : 0;
    }
  }
  return result;
}

std::uint64_t GroundTruth::undecided() const {
  std::uint64_t result = 0;
  for (const KindCounts& counts : tests) {
    result += counts[static_cast<std::size_t>(TestKind::EnlargementOrOrder)];
  }
  return result;
}

std::uint64_t GroundTruth::joint() const {
  return sum(tests[static_cast<std::size_t>(Cause::Joint)]);
}

ReportedHit brute_force_hit(const bvh::PreparedScene& scene, const Observed& observed, std::uint64_t ray,
                            const Candidate& candidate) {
  const Ray& traced = observed.rays[ray];
  const trace::Geometry& geometry = scene.geometry(scene.instances[candidate.instance].blas, candidate.geometry);
  if (geometry.type == trace::GeometryType::Triangles) {
    return pierce(scene, geometry, traced, candidate);
  }
  ReportedHit nearest;
  for (const ObservedTest& test : observed.tests.of(ray)) {
    if (test.test.procedural && test.test.candidate == candidate) {
      const ReportedHit reported = nearest_report(observed, test, traced);
      if (reported.hit && (!nearest.hit || reported.t < nearest.t)) {
        nearest = reported;
      }
    }
  }
  return nearest;
}

Cause base_cause(const ReportedHit& hit, float t_star) {
  return !hit.hit ? Cause::BoxMiss : hit.t <= t_star ? Cause::Necessary : Cause::Overlap;
}

}  // namespace rayreplay::traversal
