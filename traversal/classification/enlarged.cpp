#include "traversal/classification/enlarged.hpp"

#include <array>
#include <utility>

#include <tbb/parallel_for.h>

#include "traversal/classification/spec.hpp"

namespace rayreplay::traversal {
namespace {

constexpr const char* kExactLayout = "wide-8";

}  // namespace

std::vector<bvh::Box> leaf_boxes(const bvh::Layout& layout, const bvh::Level& level, std::uint32_t references) {
  std::vector<bvh::Box> boxes(references);
  std::vector<std::uint32_t> open;
  if (!level.empty()) {
    open.push_back(0);
  }
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  while (!open.empty()) {
    const std::uint32_t record = open.back();
    open.pop_back();
    const std::size_t count = layout.decode(level, record, children);
    for (std::size_t i = 0; i < count; ++i) {
      const bvh::ChildView& child = children[i];
      if (child.count == 0) {
        open.push_back(child.index);
      }
      for (std::uint32_t r = 0; r < child.count; ++r) {
        boxes[level.references[std::size_t{child.index} + r]].extend(child.box);
      }
    }
  }
  return boxes;
}

EnlargedBoxes::EnlargedBoxes(const trace::Scene& scene, std::uint32_t tlas, const std::string& name,
                             const EnlargedModels& models, double enlarge, Progress* progress) {
  std::vector<std::string> layouts = models.layouts;
  if (layouts.empty() && enlarge > 0) {
    layouts.emplace_back(kExactLayout);
  }
  for (const std::string& builder : models.builders) {
    for (const std::string& layout : layouts) {
      bvh::BvhOptions options;
      options.builder = with_setting(builder, "leaf_size", 1);
      options.layout = layout;
      options.enlarge = enlarge;
      options.progress = progress;
      add(bvh::build_bvh(scene, tlas, name, options));
    }
  }
}

void EnlargedBoxes::add(const bvh::Bvh& structure) {
  std::vector<std::vector<bvh::Box>> boxes(structure.bottoms.size());
  tbb::parallel_for(std::size_t{0}, boxes.size(), [&](std::size_t blas) {
    boxes[blas] = leaf_boxes(*structure.layout, structure.bottoms[blas], structure.scene.blases[blas].primitives());
  });
  boxes_.push_back(std::move(boxes));
  names_.push_back(structure.layout_spec + " over " + structure.builder);
}

}  // namespace rayreplay::traversal
