// Replays all rays of a launch through each traversal, scalar or by warps.
//
// Contract: the launch's threads are processed warp by warp, in start order. The rays of a warp run bounce by bounce:
// rays with the same index in their thread run together, packed into the lowest lanes. Candidates for which shaders
// decide are answered as in the trace (traversal/observed.hpp); `unobserved` counts those without a record. Batches are
// whole warps with about `batch_rays` rays: memory is the trace, the structure, and one batch with its accesses. Random
// choices, which depend on a ray's position in its batch, and the queue of persistent warps restart with each batch.
// Row 0 is the trace itself (`observed`), with counts of shader calls only. Deterministic except for `seconds`. Errors:
// those of the structure (bvh/bvh.hpp) and of the models; Missing if the trace has no scene, or does not say which
// structure the launch used.
//
// Agreement: rays whose end is in the trace (Miss, ClosestHit, and ImplicitHit of rays that skip it) are `compared`. A
// ray counts in `agreed` if it misses where the trace's did, hits the object of its ClosestHit event, or hits anything
// for an ImplicitHit.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "bvh/bvh.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kAccessKinds = 5;

/// The accesses of a batch's rays in one traversal; `ray` is a row of the launch's rays.
using AccessSink = std::function<void(std::size_t row, std::span<const std::uint64_t> ray,
                                      const traversal::RayRows<traversal::Access>& accesses)>;

struct TraverseOptions {
  std::vector<std::string> traversals{};       ///< specs
  std::vector<std::string> warp_traversals{};  ///< specs
  std::uint64_t batch_rays = 65536;
  AccessSink accesses{};  ///< of scalar traversals; may be null
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< for the rays; null: the processor
};

enum class TraverseKind : std::uint8_t { Observed, Scalar, Warp };

/// Sums over rays.
struct TraverseRow {
  std::string traversal;  ///< resolved spec
  std::string asked;      ///< as requested
  TraverseKind kind = TraverseKind::Scalar;
  std::uint64_t rays = 0;
  std::uint64_t ignored = 0;
  std::uint64_t hits = 0;
  std::uint64_t compared = 0;
  std::uint64_t agreed = 0;
  std::uint64_t nodes = 0, boxes = 0, leaves = 0, triangles = 0, procedurals = 0, any_hits = 0, instances = 0;
  std::uint64_t restarts = 0;
  std::uint64_t stack_sum = 0;
  std::uint32_t stack_max = 0;
  std::uint64_t unobserved = 0;
  std::array<std::uint64_t, kAccessKinds> bytes{};                  ///< by traversal::AccessKind
  std::array<traversal::StepTally, traversal::kStepKinds> steps{};  ///< warp forms
  double seconds = 0;                                               ///< wall clock of tracing, accesses logged
};

struct TraverseResult {
  std::string builder, layout, node_order, vertex_order;  ///< resolved specs
  std::string packing;                                    ///< resolved spec, completed by the packing stage
  std::uint64_t structure_bytes = 0;
  bvh::Ignored ignored;
  std::uint64_t warps = 0;         ///< warps of the launch
  std::uint64_t bounce_warps = 0;  ///< groups of rays that run together
  std::vector<TraverseRow> rows;
};

/// `structure`: the launch's; `packed`: its threads in warps.
[[nodiscard]] TraverseResult traverse(const trace::Launch& launch, const bvh::Bvh& structure,
                                      const scheduler::WarpAssignment& packed, const TraverseOptions& options);

}  // namespace rayreplay::experiment
