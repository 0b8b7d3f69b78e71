// Near-first traversal: depth-first, nearest child first, with a stack as deep as it takes.
//
// Contract: kernels/stack_traversal.hpp, sorted.
#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/stack_traversal.hpp"

namespace rayreplay::traversal {
namespace {

class NearFirst final : public Traversal {
 public:
  [[nodiscard]] TraceResult trace(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                  const TraceOptions& options) const override {
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return StackTraversal<DecodeKernel, O, true>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer);
    });
  }
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "near-first",
     .summary = "Depth-first with a stack, the nearest child first",
     .text = "What most kernels on GPUs and CPUs do: of the children that the ray meets, the one it enters first is "
             "visited next, the others wait on a stack with the distance of their entry, and those that lie beyond "
             "the closest hit when they come up are left out. Ties go to the lower slot. All primitives of a leaf are "
             "tested.",
     .source = "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<NearFirst>(); });

}  // namespace
}  // namespace rayreplay::traversal
