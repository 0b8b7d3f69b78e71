// Fixed-order traversal: depth-first, children in the order of their slots.
//
// Contract: kernels/stack_traversal.hpp, not sorted.
#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/stack_traversal.hpp"

namespace rayreplay::traversal {
namespace {

class FixedOrder final : public Traversal {
 public:
  [[nodiscard]] TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                         const TraceOptions& options) const override {
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return StackTraversal<DecodeKernel, O, false>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer);
    });
  }
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "fixed-order",
     .summary = "Depth-first with a stack, children in the order of their slots",
     .text = "The order of visits does not depend on the ray, as in hardware that does not sort. Stack entries keep "
             "their entry distance and are skipped if they lie beyond the closest hit when popped.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<FixedOrder>(); });

}  // namespace
}  // namespace rayreplay::traversal
