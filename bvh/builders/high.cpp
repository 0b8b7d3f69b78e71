// High builder: the surface area heuristic with spatial splits (MODELS.md §9).
//
// Contract: rtcBuildBVH with RTC_BUILD_QUALITY_HIGH; items are cut by the split function of builder.hpp, so that
// several leaves may refer to one. Deterministic. O(n log n).
#include "bvh/builders/builder_parameters.hpp"
#include "bvh/builders/embree_build.hpp"

namespace rayreplay::bvh {
namespace {

class High final : public Builder {
 public:
  explicit High(const Parameters& parameters)
      : wanted_(wanted_limits(parameters)),
        settings_{.quality = RTC_BUILD_QUALITY_HIGH,
                  .traversal_cost = parameters.get_double("traversal_cost"),
                  .intersection_cost = parameters.get_double("intersection_cost"),
                  .min_leaf_size = static_cast<std::uint32_t>(parameters.get_int("min_leaf_size")),
                  .extra_references = parameters.get_double("extra_references")} {}

  [[nodiscard]] BuildLimits wanted() const override {
    return wanted_;
  }
  [[nodiscard]] Tree build(std::vector<BuildItem> items, BuildLimits limits, const SplitFunction* split,
                           Progress* progress) const override {
    return embree_build(std::move(items), limits, settings_, split, progress);
  }

 private:
  BuildLimits wanted_;
  EmbreeSettings settings_;
};

const Builders::Registrar kRegistrar(
    {.kind = {},
     .name = "high",
     .summary = "Surface area heuristic with spatial splits (Embree, high quality)",
     .text = "As 'medium', but where the boxes of two children would overlap much, an item that crosses the plane "
             "between them may go to both, each with the part of its box on that side: triangles are clipped exactly, "
             "boxes cut. Instances are never cut. The best tree, with more references than items.",
     .source = "Stich, Friedrich, Dietrich, Spatial splits in bounding volume hierarchies (2009); Embree's rtcBuildBVH",
     .parameters = {branching_parameter(),
                    leaf_size_parameter(),
                    min_leaf_size_parameter(),
                    traversal_cost_parameter(),
                    intersection_cost_parameter(),
                    {"extra_references",
                     0.5,
                     "items",
                     "how many references the splits may add at most, as a share of the items; 0: no splits",
                     0,
                     8,
                     {}}}},
    [](const Parameters& parameters) { return std::make_unique<High>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
