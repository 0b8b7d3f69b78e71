// All rays of a launch, traced again: what each traversal, scalar or by warps, does with them.
//
// Contract: the launch's threads are taken warp by warp, in the order in which the warps start; the rays of a warp run
// bounce by bounce: those with the same index in their thread run together, packed into the lowest lanes. Candidates
// that shaders decide on are answered as the trace recorded them (traversal/observed.hpp); `unobserved` counts those
// without a record. Work is done in batches of whole warps with about `batch_rays` rays: memory is the trace, the
// structure, and one batch with its accesses. A traversal that draws lots by a ray's place, and the queue of
// persistent warps, start anew with each batch. Row 0 is the trace itself (`observed`), which knows of shader calls
// only. Deterministic but for `seconds`. Errors: those of the structure (bvh/bvh.hpp) and of the models; Missing when
// the trace has no scene, or does not know which structure the launch used.
//
// Agreement: rays whose end the trace recorded (Miss, ClosestHit, and ImplicitHit of rays that skip it) are `compared`;
// of these `agreed` miss where the trace's did, hit the same object as its ClosestHit event, or hit something where it
// was an ImplicitHit.
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
#include "sim/experiment/resolve.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kAccessKinds = 5;

/// The accesses of a batch's rays in one traversal; `ray` are rows of the launch's rays.
using AccessSink = std::function<void(std::size_t row, std::span<const std::uint64_t> ray,
                                      const traversal::RayRows<traversal::Access>& accesses)>;

struct TraverseOptions {
  std::vector<std::string> traversals{};       ///< specs
  std::vector<std::string> warp_traversals{};  ///< specs
  bvh::BvhOptions structure{};
  std::string packing = "identity";
  // What is known already, in place of what `structure`, order and `packing` would give; null: it is made.
  const bvh::Bvh* built = nullptr;
  const scheduler::WarpAssignment* packed = nullptr;
  std::uint64_t batch_rays = 65536;
  AccessSink accesses{};  ///< of scalar traversals; may be null
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< where rays are traced; null: on the processor
};

enum class TraverseKind : std::uint8_t { Observed, Scalar, Warp };

/// Sums over rays.
struct TraverseRow {
  std::string traversal;  ///< resolved spec
  std::string asked;      ///< as it was asked for
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
  std::string packing;
  std::uint64_t structure_bytes = 0;
  bvh::Ignored ignored;
  std::uint64_t warps = 0;         ///< of the launch
  std::uint64_t bounce_warps = 0;  ///< groups of rays that run together
  std::vector<TraverseRow> rows;
};

/// `name` stands for the trace in messages.
[[nodiscard]] TraverseResult traverse(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                                      const TraverseOptions& options);

}  // namespace rayreplay::experiment
