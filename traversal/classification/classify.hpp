// Why each observed intersection test was made (MODELS.md §8).
//
// Contract: `classify` takes every observed test of a launch: each Intersection event, and each AnyHit event that
// follows no report of its candidate (a triangle's), which stands for the test that no shader sees (observed.hpp). Each
// gets exactly one TestKind; the sum over kinds equals the observed tests. Input per test: the primitive's original box
// in its instance's space, the ray, reports and acceptance, and t*, the distance of the ray's closest accepted hit:
// - rays that look for the closest hit: the t of their ClosestHit event; infinity after a Miss; without either shader
//   the closest accepted candidate, opaque triangles found by the ordered replay;
// - rays that end on their first hit: infinity after a Miss; else the closest accepted hit of the ordered replay, with
//   the observed reports and any-hit decisions as shaders. The ideal order is that of hits along the ray, so its first
//   hit is the closest one, and the replay ignores the ray's flag. Candidates that only the replay meets
//   (`unobserved`) count as accepted triangles or missed boxes.
// A box primitive is hit if its shader reported a hit in [t_min, t_max] of the trace call or an accepted one; t is that
// of the nearest such report. If the intersection shader itself drops hits beyond the current t_max, R1 becomes box
// miss. All comparisons are rounded outward by `slack`, in favour of the kinds that any box-based order makes, so that
// rounding never invents R2 or R3. Inactive primitives (bvh/scene.hpp) have no box: their tests are enlargements unless
// necessary, and are counted in `inactive_tests`.
//
// The enlarged boxes that separate "R2 or R3" from R3 are those of EnlargedBoxes (enlarged.hpp).
//
// With an accelerator its first device judges and counts tests (kernels/classification); the CPU reads the events and
// judges tests for which the kernel is not exact.
//
// Memory: 48 bytes a thread, about 64 to 128 an object and worker, 28 a ray and 24 a test where wanted, a batch of a
// few hundred MB, and the structures. O(tests + rays), plus the ordered replay where needed. Parallel over threads;
// deterministic. Errors: Usage for an unknown launch; Missing when the trace has no scene, the launch's structure is
// unknown, or no test was observed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "traversal/classification/tally.hpp"
#include "traversal/classification/test_kind.hpp"

namespace rayreplay {
class Accelerator;
}

namespace rayreplay::traversal {

/// An observed test: event `event` of the launch, made by ray row `ray`.
struct ClassifiedTest {
  std::uint64_t event = 0;
  std::uint64_t ray = 0;
  TestKind kind = TestKind::Necessary;
  float t_enter = 0;  ///< where the ray enters the original box; NaN if it does not

  bool operator==(const ClassifiedTest&) const = default;
};

struct ClassifyOptions {
  /// Rounding allowed to the hardware, in units of 2^-24 of the operands (box_entry.hpp).
  double slack = 8;
  /// Specs of the layouts whose boxes the hardware may have used; empty: "R2 or R3" cannot arise.
  std::vector<std::string> enlarged_layouts{"compressed-wide-8", "quantised-6", "half-4"};
  /// Builders of the trees in those layouts: every layout over every builder. Leaves of one primitive unless a spec
  /// sets leaf_size.
  std::vector<std::string> enlarged_builders{"medium"};
  /// The hardware is known to skip boxes whose entry lies beyond the ray's current t_max. A test made when t_max lay
  /// before the original box then needed a larger box: R2 instead of "R2 or R3".
  bool culls = false;
  double enlarge = 0;     ///< a further enlargement of boxes that the hardware is known to make (bvh.hpp)
  bool per_test = false;  ///< fill `tests`
  bool per_ray = false;   ///< fill `by_ray` and `t_star`
  Progress* progress = nullptr;
  /// Judges and counts on a device: the same numbers. Null: on the CPU.
  Accelerator* accelerator = nullptr;
};

/// The goal of the rays that made a test.
enum class RayGoal : std::uint8_t { ClosestHit = 0, FirstHit };
enum class PrimitiveType : std::uint8_t { Procedural = 0, Triangle };

struct Classification {
  KindCounts total{};
  std::array<std::array<KindCounts, 2>, 2> split{};           ///< by RayGoal, then PrimitiveType
  std::vector<KindCounts> by_thread;                          ///< pixels
  std::vector<std::array<std::uint32_t, kTestKinds>> by_ray;  ///< rows of the launch's rays; per_ray
  std::vector<ObjectCounts> by_object;  ///< ascending by (instance, geometry, primitive); objects with tests only
  std::vector<float> t_star;            ///< per_ray; NaN if no test needed it and no shader event has it
  std::vector<ClassifiedTest> tests;    ///< per_test: in order of events
  /// ReRay's metric: any-hit calls, also those for reports of boxes, and those for hits beyond t*.
  std::uint64_t any_hit_calls = 0, any_hits_beyond = 0;
  std::uint64_t rays = 0;
  std::uint64_t tested_rays = 0;  ///< rays with a test
  std::uint64_t ignored_rays =
      0;  ///< of the launch that are not traversable (ray.hpp): tests that were made of them count as necessary
  std::uint64_t replayed_rays = 0;  ///< whose t* is from the ordered replay
  std::uint64_t unobserved = 0;     ///< candidates that the replay met and the hardware did not
  /// Rays whose t* is that of a non-opaque triangle that no shader saw, taken as accepted; and their tests of kinds
  /// that a more distant t* could change: R1, R3 and "R2 or R3".
  std::uint64_t assumed_rays = 0, assumed_tests = 0;
  std::uint64_t inactive_tests = 0;  ///< of primitives that take no part in the scene
  std::uint64_t late_tests = 0;      ///< R3 and "R2 or R3" made when t_max lay before the original box already
  bvh::Ignored ignored;
  double slack = 0;
  std::vector<std::string> enlarged;  ///< models of enlarged boxes: EnlargedBoxes::names
};

[[nodiscard]] Classification classify(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                                      const ClassifyOptions& options = {});

/// The launch. Throws as classify for an unknown launch or scene.
[[nodiscard]] const trace::Launch& launch_with_scene(const trace::Trace& trace, std::uint32_t launch,
                                                     const std::string& name);

}  // namespace rayreplay::traversal
