// Enlarged boxes that a driver may have tested instead of a primitive's own (MODELS.md §8, §9).
//
// Contract: a model is a layout, typically a quantised one, over a tree of some builder, with leaves of one primitive
// unless the builder's spec sets leaf_size. For every model and primitive: the box that a traversal of that layout
// tests. It contains the primitive's own box; for a primitive in several leaves (spatial splits) it surrounds them all.
// Empty for inactive primitives and structures that no active instance uses. Memory: 24 bytes a primitive and model,
// plus one model's structure while building. Errors: those of bvh::build_bvh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"

namespace rayreplay::traversal {

/// Specs; every layout is combined with every builder.
struct EnlargedModels {
  std::vector<std::string> layouts;
  std::vector<std::string> builders{"medium"};
};

class EnlargedBoxes {
 public:
  EnlargedBoxes() = default;
  /// Without layouts and with `enlarge` above 0: one layout, exact boxes enlarged by it.
  EnlargedBoxes(const trace::Scene& scene, std::uint32_t tlas, const std::string& name, const EnlargedModels& models,
                double enlarge, Progress* progress);
  /// Adds a model: a structure over the same scene.
  void add(const bvh::Bvh& structure);

  [[nodiscard]] std::size_t models() const {
    return boxes_.size();
  }
  /// `number`: dense, as in bvh::PreparedScene.
  [[nodiscard]] const bvh::Box& box(std::size_t model, std::uint32_t blas, std::uint32_t number) const {
    return boxes_[model][blas][number];
  }
  /// By blas, then primitive.
  [[nodiscard]] const std::vector<std::vector<bvh::Box>>& boxes(std::size_t model) const {
    return boxes_[model];
  }
  /// Completed specs: "compressed-wide-8 over medium:branching=8,…".
  [[nodiscard]] const std::vector<std::string>& names() const {
    return names_;
  }

 private:
  std::vector<std::vector<std::vector<bvh::Box>>> boxes_;  ///< model, blas, primitive
  std::vector<std::string> names_;
};

/// By reference of one structure: the smallest box around all leaves that hold it.
[[nodiscard]] std::vector<bvh::Box> leaf_boxes(const bvh::Layout& layout, const bvh::Level& level,
                                               std::uint32_t references);

}  // namespace rayreplay::traversal
