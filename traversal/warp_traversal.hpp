// Warp traversals: how the loops of a traversal kernel keep the lanes of a warp busy (MODELS.md §10; Aila and Laine,
// "Understanding the Efficiency of Ray Traversal on GPUs", HPG 2009).
//
// Contract: warp w runs rays [first_ray[w], first_ray[w + 1]), one a lane, at most 64. Every lane runs a near-first
// stack traversal cut into steps: one node, or one reference of a leaf, which is a primitive's test or, in the top
// level, the reading of an instance's record. The model decides which lanes take a step together; each such step is one
// row with its active mask. Closest hits equal those of every Traversal, bit for bit. SIMT efficiency of a kind of step
// = Σ popcount(mask) / (warp size · steps). Persistent forms fetch further rays into finished lanes; `ray` of their
// rows names each lane's ray. Deterministic for any number of threads. Memory: 16 bytes a step (20 with its tests)
// and 4 an active lane where steps are logged (twice while they are joined); tallies alone are O(warps). Errors: Usage
// for a warp size outside 1 … 64, a warp with more rays than lanes, rows that do not ascend.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/registry.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

enum class StepKind : std::uint8_t { Node, Leaf, Fetch };
inline constexpr std::size_t kStepKinds = 3;

struct WarpStep {
  std::uint64_t mask = 0;  ///< lanes that take the step
  std::uint32_t warp = 0;
  StepKind kind = StepKind::Node;

  bool operator==(const WarpStep&) const = default;
};

/// Tests of a step, summed over its lanes.
struct StepTests {
  std::uint16_t boxes = 0;   ///< child boxes of the nodes
  std::uint16_t leaves = 0;  ///< leaves entered: at their first reference

  bool operator==(const StepTests&) const = default;
};

struct StepTally {
  std::uint64_t steps = 0;
  std::uint64_t lanes = 0;

  [[nodiscard]] double efficiency(std::uint32_t warp_size) const {
    return steps == 0 ? 0 : static_cast<double>(lanes) / (static_cast<double>(steps) * warp_size);
  }
  StepTally& operator+=(const StepTally& other) {
    steps += other.steps;
    lanes += other.lanes;
    return *this;
  }
  bool operator==(const StepTally&) const = default;
};

struct WarpTraceOptions {
  std::uint32_t warp_size = 32;  ///< 1 … 64
  bool counters = true;
  bool steps = false;
  bool accesses = false;  ///< implies steps
  bool tests = false;     ///< of each step; only where steps are logged
  /// Entries of a lane's stack on chip; 0: all. Further entries are stored when pushed and loaded when popped, 8 bytes
  /// each, logged by `accesses` (AccessKind::Stack; addresses count from the lane's first such entry). Both levels
  /// share the stack; the root counts.
  std::uint32_t stack_entries = 0;
  const Shaders* shaders = nullptr;
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< as in TraceOptions: warps are divided
  DeviceSlot* on_device = nullptr;     ///< as in TraceOptions
};

struct WarpTraceResult {
  std::vector<Hit> hits;              ///< per ray
  std::vector<RayCounters> counters;  ///< per ray
  std::array<StepTally, kStepKinds> tally{};
  std::vector<WarpStep> steps;               ///< by warp, in each in the order they happened
  std::vector<StepTests> tests;              ///< by step
  std::vector<std::uint32_t> ray;            ///< of the steps' active lanes, lowest lane first
  std::vector<std::uint64_t> access_offset;  ///< per active lane of the steps, as `ray`, one more at the end
  std::vector<Access> accesses;
  std::uint64_t ignored_rays = 0;
};

class WarpTraversal : public HasOrigin {
 public:
  static constexpr const char* kModelKind = "warp traversal";
  virtual ~WarpTraversal() = default;
  /// On the accelerator's devices where kernels/ has the model, else on the CPU.
  [[nodiscard]] WarpTraceResult trace(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                      std::span<const std::uint64_t> first_ray,
                                      const WarpTraceOptions& options = {}) const;
  /// Whether warp w runs exactly the rays of row w of `first_ray`, so that WarpStep::warp is that row.
  [[nodiscard]] virtual bool keeps_warps() const {
    return true;
  }

 private:
  [[nodiscard]] virtual WarpTraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                                     std::span<const std::uint64_t> first_ray,
                                                     const WarpTraceOptions& options) const = 0;
};

inline constinit Twin<WarpTraceResult(const ModelOrigin&, const bvh::Bvh&, std::span<const Ray>,
                                      std::span<const std::uint64_t>, const WarpTraceOptions&)>
    trace_warps_twin{"warp traversal"};

using WarpTraversals = Registry<WarpTraversal>;

}  // namespace rayreplay::traversal
