// Low builder: items sorted along a Morton curve (MODELS.md §9).
//
// Contract: rtcBuildBVH with RTC_BUILD_QUALITY_LOW, in one thread. Deterministic. O(n log n).
#include "bvh/builders/builder_parameters.hpp"
#include "bvh/builders/embree_build.hpp"

namespace rayreplay::bvh {
namespace {

class Low final : public Builder {
 public:
  explicit Low(const Parameters& parameters) : wanted_(wanted_limits(parameters)) {}

  [[nodiscard]] BuildLimits wanted() const override {
    return wanted_;
  }
  [[nodiscard]] Tree build(std::vector<BuildItem> items, BuildLimits limits, const SplitFunction* /*split*/,
                           Progress* progress) const override {
    limits.leaf_size = usual_leaf_size(wanted_, limits);
    // Embree sorts large cells with an unstable parallel sort: the order of equal codes depends on the threads.
    return embree_build(std::move(items), limits,
                        {.quality = RTC_BUILD_QUALITY_LOW, .min_leaf_size = limits.leaf_size, .one_thread = true},
                        nullptr, progress);
  }

 private:
  BuildLimits wanted_;
};

const Builders::Registrar kRegistrar(
    {.kind = {},
     .name = "low",
     .summary = "Morton order of centroids (Embree, low quality)",
     .text = "Sorts the items by the interleaved bits of their centroids, 10 an axis, and splits where the highest bit "
             "changes; cells that hold too many are divided anew. Leaves hold leaf_size references or fewer; 0 means 4 "
             "here, or the layout's own if that is less. The fastest build and the worst tree.",
     .source = "Lauterbach et al., Fast BVH construction on GPUs (2009); Embree's rtcBuildBVH",
     .parameters = {branching_parameter(), leaf_size_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Low>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
