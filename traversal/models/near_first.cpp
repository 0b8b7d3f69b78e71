// Near-first traversal: depth-first, nearest child first, with an unlimited stack.
//
// Contract: kernels/stack_traversal.hpp, sorted.
#include "base/declare_parameters.hpp"
#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/stack_traversal.hpp"
#include "traversal/kernels/wide8_near_first.hpp"

namespace rayreplay::traversal {
namespace {

class NearFirst final : public Traversal {
 public:
  explicit NearFirst(bool fastest) : fastest_(fastest) {}

  [[nodiscard]] TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                         const TraceOptions& options) const override {
#if RAYREPLAY_AVX2
    if (fastest_ && has_avx2() && parse_spec(bvh.layout_spec).name == "wide-8") {
      return trace_batch(bvh, rays, options,
                         [&]<class O>(O& observer) { return Wide8NearFirst<O>(bvh, options.shaders, observer); });
    }
#endif
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return StackTraversal<DecodeKernel, O, true>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer);
    });
  }

 private:
  bool fastest_;
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "near-first",
     .summary = "Depth-first with a stack, the nearest child first",
     .text = "The order of most kernels on GPUs and CPUs: of the children that the ray meets, the one it enters first "
             "is visited next; the others wait on a stack with the distance of their entry, and are skipped if they "
             "lie beyond the closest hit when popped. Ties go to the lower slot. All primitives of a leaf are tested.",
     .source = "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009",
     .parameters = {declare::choice("kernel", "fastest", {"fastest", "decode"},
                                    "Implementation, with the same results: 'fastest' has special code for wide-8 on "
                                    "processors with AVX2, 'decode' reads every layout through its decoder.")}},
    [](const Parameters& parameters) {
      return std::make_unique<NearFirst>(parameters.get_string("kernel") == "fastest");
    });

}  // namespace
}  // namespace rayreplay::traversal
