#include "sim/memory/streams/image_memory.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "capture/trace/texel_address.hpp"

namespace rayreplay::memory {
namespace {

using Pair = std::array<std::uint32_t, 2>;

/// A texel and the one behind it.
Pair and_next(std::uint32_t texel, std::uint32_t side) {
  return {texel, texel + 1 < side ? texel + 1 : 0};
}

/// The texels of a linear filter along one side of a level, at a place in half texels.
Pair around(std::uint32_t half, std::uint32_t side) {
  return and_next(half == 0 ? side - 1 : (half - 1) / 2, side);
}

}  // namespace

ImageMemory::ImageMemory(const trace::Trace& trace, const trace::Launch& launch, const std::string& layout,
                         Allocations& allocations)
    : sites_(&trace.access_sites), table_(&launch.images) {
  ImageLayouts::Created created = ImageLayouts::create(layout);
  layout_ = std::move(created.model);
  spec_ = std::move(created.spec);
  if (std::ranges::find(sites_->space, trace::AccessSpace::Image) == sites_->space.end()) {
    return;
  }
  add_descriptors(launch.images);
  const trace::Accesses& accesses = launch.data.accesses;
  for (std::size_t row = 0; row < accesses.size(); ++row) {
    if (!is_image(accesses.site[row])) {
      continue;
    }
    const Touched found = touched(accesses.site[row], accesses.address[row]);
    for (std::uint32_t i = 0; i < found.count; ++i) {
      const std::uint64_t bytes = plans_[found.descriptor->plan].shape().block_bytes;
      images_[found.descriptor->image].pages.add(found.offset.at(i), found.offset.at(i) + bytes - 1);
    }
  }
  for (const auto& [number, at] : numbers_) {
    Image& image = images_[at];
    image.pages.finish();
    if (image.pages.bytes() == 0) {
      continue;
    }
    Allocation row;
    row.name = fmt::format("image {}", number);
    row.kind = DataKind::Other;
    row.start = (allocations.end() + TouchedPages::kBytes - 1) / TouchedPages::kBytes * TouchedPages::kBytes;
    row.bytes = image.pages.bytes();
    row.element_bytes = TouchedPages::kSectorBytes;
    image.start = row.start;
    allocations.add(std::move(row), "accesses of shaders");
    image.first_element = allocations.rows().back().first_element;
  }
}

void ImageMemory::add_descriptors(const trace::Images& table) {
  std::map<ImageShape, std::uint32_t> plans;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const ImageShape shape{table.width[row],  table.height[row],      table.depth[row],        table.layers[row],
                           table.levels[row], table.block_width[row], table.block_height[row], table.block_bytes[row]};
    const auto [plan, is_new] = plans.emplace(shape, static_cast<std::uint32_t>(plans_.size()));
    if (is_new) {
      plans_.emplace_back(shape, *layout_, fmt::format("images of the launch, row {}", row));
    }
    const auto image = numbers_.emplace(table.image[row], static_cast<std::uint32_t>(numbers_.size())).first;
    descriptors_.push_back({.image = image->second,
                            .base_layer = table.base_layer[row],
                            .base_level = table.base_level[row],
                            .plan = plan->second,
                            .filter = table.filter[row]});
  }
  images_.resize(numbers_.size());
}

const ImageMemory::Descriptor* ImageMemory::descriptor_of(std::uint32_t site, std::uint32_t element) const {
  const auto name_of = [&](std::size_t row) {
    return std::tuple(table_->set[row], table_->binding[row], table_->element[row]);
  };
  const std::tuple name(sites_->set[site], sites_->binding[site], element);
  std::size_t low = 0, high = descriptors_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (name_of(middle) < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < descriptors_.size() && name_of(low) == name ? &descriptors_[low] : nullptr;
}

ImageMemory::Touched ImageMemory::touched(std::uint32_t site, std::uint64_t address) const {
  Touched found;
  const trace::Texel at = trace::unpack_texel(address);
  const Descriptor* const descriptor = descriptor_of(site, at.element);
  if (descriptor == nullptr) {
    return found;
  }
  found.descriptor = descriptor;
  const ImagePlan& plan = plans_[descriptor->plan];
  const ImageShape& shape = plan.shape();
  const bool solid = shape.depth > 1;
  const bool sample = sites_->kind[site] == trace::AccessKind::Sample;
  const std::uint64_t layer = std::uint64_t{descriptor->base_layer} + at.layer;
  const std::uint64_t level = std::uint64_t{descriptor->base_level} + at.level;
  constexpr std::uint64_t kMost = 0xFFFF'FFFFU;
  ImageTexel texel{.x = sample ? at.x / 2 : at.x,
                   .y = sample ? at.y / 2 : at.y,
                   .z = solid ? static_cast<std::uint32_t>(std::min(layer, kMost)) : 0,
                   .layer = solid ? 0 : static_cast<std::uint32_t>(std::min(layer, kMost)),
                   .level = static_cast<std::uint32_t>(std::min(level, kMost))};
  if (!plan.contains(texel)) {
    return found;
  }
  const auto add = [&] {
    const std::uint64_t offset = plan.offset(texel);
    const auto end = found.offset.begin() + found.count;
    if (std::find(found.offset.begin(), end, offset) == end) {
      found.offset.at(found.count++) = offset;
    }
  };
  if (!sample || descriptor->filter == trace::Filter::Nearest) {
    add();
    return found;
  }
  const Pair columns = around(at.x, ImagePlan::side(shape.width, texel.level));
  const Pair rows = around(at.y, ImagePlan::side(shape.height, texel.level));
  const Pair slices = and_next(texel.z, ImagePlan::side(shape.depth, texel.level));
  for (const std::uint32_t z : slices) {
    for (const std::uint32_t y : rows) {
      for (const std::uint32_t x : columns) {
        texel.x = x;
        texel.y = y;
        texel.z = z;
        add();
      }
    }
  }
  return found;
}

ImagePieces ImageMemory::pieces(std::uint32_t site, std::uint64_t address) const {
  const Touched found = touched(site, address);
  ImagePieces result;
  result.count = found.count;
  if (found.count == 0) {
    return result;
  }
  result.bytes = plans_[found.descriptor->plan].shape().block_bytes;
  const Image& image = images_[found.descriptor->image];
  for (std::uint32_t i = 0; i < found.count; ++i) {
    const std::uint64_t offset = image.pages.offset(found.offset.at(i));
    result.pieces.at(i) = {image.start + offset,
                           image.first_element + static_cast<std::uint32_t>(offset / TouchedPages::kSectorBytes)};
  }
  return result;
}

bool ImageMemory::assumes_filter(std::uint32_t site, std::uint64_t address) const {
  if (sites_->kind[site] != trace::AccessKind::Sample) {
    return false;
  }
  const Touched found = touched(site, address);
  return found.count > 0 && found.descriptor->filter == trace::Filter::None;
}

bool ImageMemory::is_outside(std::uint32_t site, std::uint64_t address) const {
  return sites_->kind[site] == trace::AccessKind::Sample && trace::unpack_texel(address).outside && has(site, address);
}

}  // namespace rayreplay::memory
