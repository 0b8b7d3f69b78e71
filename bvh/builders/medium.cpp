// Medium builder: the surface area heuristic over bins of centroids (MODELS.md §9).
//
// Contract: rtcBuildBVH with RTC_BUILD_QUALITY_MEDIUM. Deterministic. O(n log n), parallel.
#include "bvh/builders/builder_parameters.hpp"
#include "bvh/builders/embree_build.hpp"

namespace rayreplay::bvh {
namespace {

class Medium final : public Builder {
 public:
  explicit Medium(const Parameters& parameters)
      : wanted_(wanted_limits(parameters)),
        settings_{.quality = RTC_BUILD_QUALITY_MEDIUM,
                  .traversal_cost = parameters.get_double("traversal_cost"),
                  .intersection_cost = parameters.get_double("intersection_cost"),
                  .min_leaf_size = static_cast<std::uint32_t>(parameters.get_int("min_leaf_size"))} {}

  [[nodiscard]] BuildLimits wanted() const override {
    return wanted_;
  }
  [[nodiscard]] Tree build(std::vector<BuildItem> items, BuildLimits limits, const SplitFunction* /*split*/,
                           Progress* progress) const override {
    return embree_build(std::move(items), limits, settings_, nullptr, progress);
  }

 private:
  BuildLimits wanted_;
  EmbreeSettings settings_;
};

const Builders::Registrar kRegistrar(
    {.kind = {},
     .name = "medium",
     .summary = "Surface area heuristic over binned centroids (Embree, medium quality)",
     .text = "Splits top-down where the estimated cost of a random ray is lowest, tried at the borders of up to 32 bins an "
             "axis, and stops when a leaf is cheaper. A node of more than two children is filled by splitting the "
             "child of the largest surface. The usual choice.",
     .source = "Wald, On fast construction of SAH-based bounding volume hierarchies (2007); Embree's rtcBuildBVH",
     .parameters = {branching_parameter(), leaf_size_parameter(), min_leaf_size_parameter(), traversal_cost_parameter(),
                    intersection_cost_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Medium>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
