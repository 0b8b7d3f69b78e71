// Why each observed intersection test was made (MODELS.md §8).
//
// Contract: `classify` looks at every observed test of a launch: each Intersection event, and each AnyHit event of a
// geometry without an intersection shader (triangles), which stands in for the test that the shader cannot see. Each
// gets exactly one TestKind; the sum over kinds equals the observed tests. Input per test: the primitive's original box
// in its instance's space, the ray, what was reported and accepted, and t*, the distance of the ray's closest accepted
// hit:
// - rays that look for the closest hit: the t of their ClosestHit event; infinity after a Miss; where neither shader
//   exists, the closest accepted candidate, opaque triangles found by the ordered replay;
// - rays that end on their first hit: that of the ordered replay, in which the observed reports and any-hit decisions
//   are the shaders. Candidates that only the replay meets (`unobserved`) count as accepted if they are triangles
//   and as not hit if they are boxes.
// "Does the ray hit p" means for a box primitive: its shader reported a hit there; a shader that leaves out hits beyond
// the current t_max by itself thus turns R1 into box miss. All comparisons are rounded outward by `slack`, in favour of
// the kinds that any box-based order would make, so that rounding never invents R2 or R3.
//
// The enlarged boxes that separate "R2 or R3" from R3 are those of `enlarged`: one structure with leaves of one
// primitive for every quantised layout (`enlarged_models`).
//
// Memory: 1 byte a test and 8 a ray, plus the structures. O(tests + rays), and the ordered replay of rays that end on
// their first hit. Parallel over threads; deterministic. Errors: Missing when the trace has no scene or no tests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::traversal {

enum class TestKind : std::uint8_t {
  Necessary = 0,       ///< hit at t ≤ t*
  BoxMiss,             ///< t_in ≤ t*, not hit
  Overlap,             ///< R1: t_in ≤ t* < t
  Enlargement,         ///< R2: the original box is not met at all
  Order,               ///< R3: t* < t_in, enlarged boxes too
  EnlargementOrOrder,  ///< R2 or R3: t* < t_in, but an enlarged box is entered at ≤ t*
};
inline constexpr std::size_t kTestKinds = 6;
[[nodiscard]] const char* to_string(TestKind kind);  ///< "box miss", "R1 overlap", …

using KindCounts = std::array<std::uint64_t, kTestKinds>;

/// Event `event` of the launch is an observed test; ray: row of the launch's rays.
struct ClassifiedTest {
  std::uint64_t event = 0;
  std::uint64_t ray = 0;
  TestKind kind = TestKind::Necessary;
  float t_enter = 0;  ///< where the ray enters the original box; NaN if it does not
};

struct ClassifyOptions {
  /// Rounding allowed to the hardware, in units of 2^-24 of the operands.
  double slack = 8;
  /// What `bvh::enlarged_models` names: specs of quantised layouts; empty: none, so that "R2 or R3" cannot arise.
  std::vector<std::string> enlarged_layouts{"compressed-wide-8", "quantised-6", "half-4"};
  double enlarge = 0;     ///< a further enlargement of boxes that the hardware is known to make (bvh.hpp)
  bool per_test = false;  ///< fill `tests`
  Progress* progress = nullptr;
};

struct Classification {
  KindCounts total{};
  KindCounts any_hit_total{};         ///< of AnyHit stand-ins alone: the thesis's metric is their R1 + R2 + R3 + either
  std::vector<KindCounts> by_thread;  ///< pixels
  std::vector<std::array<std::uint32_t, kTestKinds>> by_ray;  ///< rows of the launch's rays
  struct ObjectCounts {
    std::uint32_t instance = 0, geometry = 0, primitive = 0;
    KindCounts counts{};
  };
  std::vector<ObjectCounts> by_object;  ///< ascending by (instance, geometry, primitive); objects with tests only
  std::vector<float> t_star;            ///< per ray
  std::vector<ClassifiedTest> tests;    ///< per_test: in order of events
  std::uint64_t rays = 0;
  std::uint64_t ignored_rays = 0;   ///< not traversable, but tested all the same: their tests count as necessary
  std::uint64_t replayed_rays = 0;  ///< whose t* is from the ordered replay
  std::uint64_t unobserved = 0;     ///< candidates that the replay met and the hardware did not
  bvh::Ignored ignored;
  double slack = 0;
};

[[nodiscard]] Classification classify(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                                      const ClassifyOptions& options = {});

}  // namespace rayreplay::traversal
