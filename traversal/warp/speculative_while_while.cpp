// Speculative while-while: lanes that have found a leaf search on while others still need theirs.
//
// Contract: schedule.hpp and lane.hpp, with speculation: one leaf is postponed, and nodes of the same level are visited
// before it. These may prove unnecessary: nodes and boxes of a ray can exceed those of the scalar near-first traversal;
// its hit is the same.
#include "traversal/warp/warp_batch.hpp"

namespace rayreplay::traversal {
namespace {

class SpeculativeWhileWhile final : public WarpTraversal {
 public:
  [[nodiscard]] WarpTraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                             std::span<const std::uint64_t> first_ray,
                                             const WarpTraceOptions& options) const override {
    return trace_warps(bvh, rays, first_ray, options, true, [] { return WhileWhile(true); });
  }
};

const WarpTraversals::Registrar kRegistrar(
    {.kind = {},
     .name = "speculative-while-while",
     .summary = "While-while in which lanes with a leaf search on while others still need one",
     .text = "The leaf is put off, at most one a lane; a second leaf makes the lane wait. Speculative visits are "
             "lost if the leaf's hit lies in front of it, but the lane would have been idle. Speculation stays within "
             "a level: a lane does not leave an instance before its leaf there is done.",
     .source = "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<SpeculativeWhileWhile>(); });

}  // namespace
}  // namespace rayreplay::traversal
