// While-while: search until every lane has a leaf, then test until none has anything left to test.
//
// Contract: schedule.hpp, without speculation. Every lane takes the steps of the scalar near-first traversal.
#include "traversal/warp/warp_batch.hpp"

namespace rayreplay::traversal {
namespace {

class WhileWhileTraversal final : public WarpTraversal {
 public:
  [[nodiscard]] WarpTraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                             std::span<const std::uint64_t> first_ray,
                                             const WarpTraceOptions& options) const override {
    return trace_warps(bvh, rays, first_ray, options, false, [] { return WhileWhile(false); });
  }
};

const WarpTraversals::Registrar kRegistrar(
    {.kind = {},
     .name = "while-while",
     .summary = "Two inner loops: all lanes search for a leaf, then all test their primitives",
     .text = "Lanes that have found a leaf, or that have ended, wait until every other lane of the warp has too; then "
             "those with a leaf test one primitive each until no lane has any left, and the search goes on. Few "
             "changes between kinds of work, at the price of lanes that wait. An instance is entered by a step of the "
             "second loop; its nodes come with the next search.",
     .source = "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<WhileWhileTraversal>(); });

}  // namespace
}  // namespace rayreplay::traversal
