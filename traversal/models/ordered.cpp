// Ordered traversal, the ideal: the entry with the nearest box is visited next, across both levels.
//
// Contract: kernels/pending_traversal.hpp with a priority queue on the entry distance; ties by arrival. Nothing entered
// beyond the closest hit is visited or tested: a ray that looks for its closest hit tests exactly the primitives whose
// own boxes it enters at or before that hit (and whose leaf boxes it meets). O(n log n) in the entries of a ray.
#include <cstdint>

#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/pending_traversal.hpp"
#include "traversal/kernels/waiting_line.hpp"

namespace rayreplay::traversal {
namespace {

class NearestOfAll : public WaitingLine<float> {
 public:
  void start(std::size_t /*row*/) {
    clear();
  }
  void push(const Pending& entry, std::uint32_t /*instance*/) {
    WaitingLine::push(entry.entry, entry);
  }
};

class Ordered final : public Traversal {
 public:
  [[nodiscard]] TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                         const TraceOptions& options) const override {
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return PendingTraversal<DecodeKernel, O, NearestOfAll>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer,
                                                             {});
    });
  }
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "ordered",
     .summary = "The ideal order: the nearest entry is visited next, by a priority queue",
     .text = "Instances, nodes and single primitives of both levels wait in one queue, ordered by the distance at "
             "which the ray enters their boxes; a primitive by its own tight box. Nothing beyond the closest hit is "
             "visited. The reference that separates necessary from unnecessary tests.",
     .source = "Hjaltason and Samet, \"Distance Browsing in Spatial Databases\", ACM TODS 1999, section 3; ReRay "
               "thesis, section 3.5",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Ordered>(); });

}  // namespace
}  // namespace rayreplay::traversal
