// If-if: in each round one node for the lanes that need one, and one primitive for those that have a leaf.
//
// Contract: schedule.hpp. Every lane takes the steps of the scalar near-first traversal.
#include "traversal/warp/warp_batch.hpp"

namespace rayreplay::traversal {
namespace {

class IfIfTraversal final : public WarpTraversal {
 public:
  [[nodiscard]] WarpTraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                             std::span<const std::uint64_t> first_ray,
                                             const WarpTraceOptions& options) const override {
    return trace_warps(bvh, rays, first_ray, options, false, [] { return IfIf(); });
  }
};

const WarpTraversals::Registrar kRegistrar(
    {.kind = {},
     .name = "if-if",
     .summary = "One loop: a node for the lanes that need one, then a primitive for those that have a leaf",
     .text = "No lane waits longer than one step, but each round costs both kinds of step as soon as one lane wants "
             "each of them.",
     .source = "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<IfIfTraversal>(); });

}  // namespace
}  // namespace rayreplay::traversal
