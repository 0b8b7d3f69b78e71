// The enlarged boxes that a driver may have tested instead of a primitive's own (MODELS.md §8, §9).
//
// Contract: for every model — a layout, most usefully a quantised one, over a tree of some builder, with leaves of one
// primitive unless the builder's spec sets leaf_size — the box of each primitive as a traversal of that layout would
// test it. It contains the primitive's own box. Of primitives that spatial splits put into several leaves: around all
// of these. Empty for inactive primitives and for structures that no active instance uses. Memory: 24 bytes a primitive
// and model, while building one model's structure more. Errors: those of bvh::build_bvh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"

namespace rayreplay::traversal {

/// Specs; every layout is taken over every builder.
struct EnlargedModels {
  std::vector<std::string> layouts;
  std::vector<std::string> builders{"medium"};
};

class EnlargedBoxes {
 public:
  EnlargedBoxes() = default;
  /// With no layouts and `enlarge` above 0 there is one layout, exact boxes enlarged by it.
  EnlargedBoxes(const trace::Scene& scene, std::uint32_t tlas, const std::string& name, const EnlargedModels& models,
                double enlarge, Progress* progress);
  /// One more model: a structure over the same scene.
  void add(const bvh::Bvh& structure);

  [[nodiscard]] std::size_t models() const {
    return boxes_.size();
  }
  /// `number`: dense, as bvh::PreparedScene numbers primitives.
  [[nodiscard]] const bvh::Box& box(std::size_t model, std::uint32_t blas, std::uint32_t number) const {
    return boxes_[model][blas][number];
  }
  /// By blas, then primitive.
  [[nodiscard]] const std::vector<std::vector<bvh::Box>>& boxes(std::size_t model) const {
    return boxes_[model];
  }
  /// "compressed-wide-8 over medium:branching=8,…", resolved.
  [[nodiscard]] const std::vector<std::string>& names() const {
    return names_;
  }

 private:
  std::vector<std::vector<std::vector<bvh::Box>>> boxes_;  ///< model, blas, primitive
  std::vector<std::string> names_;
};

/// Boxes of the leaves of one structure by reference: of each the smallest box around all leaves that hold it.
[[nodiscard]] std::vector<bvh::Box> leaf_boxes(const bvh::Layout& layout, const bvh::Level& level,
                                               std::uint32_t references);

}  // namespace rayreplay::traversal
