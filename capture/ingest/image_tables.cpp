#include "capture/ingest/image_tables.hpp"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/ingest/image_format.hpp"
#include "capture/trace/image_shape.hpp"

namespace rayreplay::ingest {
namespace {

using spool::Image;
using spool::ImageDescriptor;

trace::ImageShape shape_of(const Image& image, const TexelBlock& block) {
  trace::ImageShape shape;
  shape.width = image.width;
  shape.height = image.height;
  shape.depth = image.depth;
  shape.layers = image.layers;
  shape.levels = image.levels;
  shape.block_width = block.width;
  shape.block_height = block.height;
  // All samples of a texel lie together.
  const bool known = image.samples != 0 && image.samples <= 64;
  shape.block_bytes = known ? block.bytes * image.samples : 0;
  return shape;
}

/// Empty, or why a descriptor has no row.
std::string fault_of(const ImageDescriptor& descriptor, const spool::Images& spooled) {
  if (descriptor.place >= spooled.images.size()) {
    return "they name an image that the spool does not have";
  }
  const Image& image = spooled.images[descriptor.place];
  if (has_planes(image.format)) {
    return fmt::format("the image's format (VkFormat {}) has several planes", image.format);
  }
  const auto block = texel_block(image.format);
  if (!block) {
    return fmt::format("the image's format (VkFormat {}) is not known", image.format);
  }
  const auto view = texel_block(descriptor.format);
  if (!view || view->width != block->width || view->height != block->height) {
    return fmt::format("the view's format (VkFormat {}) has other blocks than the image's (VkFormat {})",
                       descriptor.format, image.format);
  }
  return trace::image_shape_fault(shape_of(image, *block), descriptor.base_layer, descriptor.base_level);
}

void add_row(trace::Images& to, const ImageDescriptor& descriptor, const Image& image) {
  const trace::ImageShape shape = shape_of(image, *texel_block(image.format));
  to.set.push_back(descriptor.set);
  to.binding.push_back(descriptor.binding);
  to.element.push_back(descriptor.element);
  to.image.push_back(image.image);
  to.width.push_back(shape.width);
  to.height.push_back(shape.height);
  to.depth.push_back(shape.depth);
  to.layers.push_back(shape.layers);
  to.levels.push_back(shape.levels);
  to.base_layer.push_back(descriptor.base_layer);
  to.base_level.push_back(descriptor.base_level);
  to.block_width.push_back(shape.block_width);
  to.block_height.push_back(shape.block_height);
  to.block_bytes.push_back(shape.block_bytes);
  to.filter.push_back(static_cast<trace::Filter>(descriptor.filter));
}

}  // namespace

trace::Images read_images(const spool::Images& spooled, std::vector<std::string>& remarks) {
  trace::Images images;
  std::map<std::string, std::uint64_t> left_out;  // by reason
  const ImageDescriptor* before = nullptr;
  const auto at = [](const ImageDescriptor& d) { return std::tuple(d.set, d.binding, d.element); };
  for (const ImageDescriptor& descriptor : spooled.descriptors) {
    std::string why = fault_of(descriptor, spooled);
    if (why.empty() && before != nullptr && at(*before) >= at(descriptor)) {
      why = "they are there twice, or out of order";
    }
    if (!why.empty()) {
      ++left_out[why];
      continue;
    }
    before = &descriptor;
    add_row(images, descriptor, spooled.images[descriptor.place]);
  }
  for (const auto& [why, count] : left_out) {
    remarks.push_back(fmt::format("without a row in its table of images: {}: {}", counted(count, "descriptor"), why));
  }
  return images;
}

trace::Images ImageNumbers::numbered(trace::Images images) {
  for (std::size_t row = 0; row < images.size(); ++row) {
    const auto key = std::pair(images.image[row], trace::image_shape(images, row));
    images.image[row] = numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  return images;
}

}  // namespace rayreplay::ingest
