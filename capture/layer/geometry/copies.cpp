#include "capture/layer/geometry/copies.hpp"

#include <algorithm>
#include <numeric>

#include "capture/layer/device/device.hpp"

namespace rayreplay::layer::geometry {
namespace {

void barrier(CommandRecording& recording, VkPipelineStageFlags before, VkAccessFlags written,
             VkPipelineStageFlags after, VkAccessFlags read_by) {
  const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, written, read_by};
  recording.device.vk.CmdPipelineBarrier(recording.handle, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

}  // namespace

CopyBatch::~CopyBatch() {
  budget_->used.fetch_sub(charged_);
}

std::size_t CopyBatch::add(const AddressMap& map, const Stretch& stretch) {
  Part part;
  part.address = stretch.address;
  part.bytes = stretch.bytes;
  if (stretch.bytes != 0) {
    const auto place = map.find(stretch.address);
    if (!place) {
      part.missing = "no buffer is known at their address";
      part.bytes = 0;
    } else if (!place->readable) {
      part.missing = "their buffer cannot be copied from";
      part.bytes = 0;
    } else {
      part.buffer = place->buffer;
      part.offset = place->offset;
      if (place->available < part.bytes) {
        part.bytes = place->available;
        part.missing = "their buffer ends before them";
      }
    }
  }
  parts_.push_back(std::move(part));
  return parts_.size() - 1;
}

std::size_t CopyBatch::add_rest(const AddressMap& map, std::uint64_t address, std::uint64_t most) {
  const auto place = map.find(address);
  const std::size_t part = add(map, {address, place ? std::min(place->available, most) : 1});
  if (place && place->available > most) {
    parts_[part].missing = "only the first " + std::to_string(most) + " bytes after their address were copied";
  }
  return part;
}

std::size_t CopyBatch::add_missing(std::string why) {
  parts_.emplace_back();
  parts_.back().missing = std::move(why);
  return parts_.size() - 1;
}

std::vector<CopyBatch::Copy> CopyBatch::lay_out(std::uint64_t& total) {
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return parts_[i].bytes == 0; });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts_[a].buffer != parts_[b].buffer ? parts_[a].buffer < parts_[b].buffer
                                                : parts_[a].offset < parts_[b].offset;
  });
  std::vector<Copy> copies;
  total = 0;
  for (const std::size_t i : order) {
    Part& part = parts_[i];
    Copy* last = copies.empty() || copies.back().buffer != part.buffer ? nullptr : &copies.back();
    if (last != nullptr && part.offset <= last->region.srcOffset + last->region.size) {
      const std::uint64_t end = part.offset + part.bytes - last->region.srcOffset;
      if (end > last->region.size) {
        total += end - last->region.size;
        last->region.size = end;
      }
    } else {
      total = (total + 15) & ~std::uint64_t{15};
      copies.push_back({part.buffer, {part.offset, total, part.bytes}});
      last = &copies.back();
      total += part.bytes;
    }
    part.host = last->region.dstOffset + (part.offset - last->region.srcOffset);
  }
  return copies;
}

bool CopyBatch::record(CommandRecording& recording) {
  std::uint64_t total = 0;
  const std::vector<Copy> copies = lay_out(total);
  if (copies.empty()) {
    return true;
  }
  std::vector<VkBufferCopy> regions;
  regions.reserve(copies.size());
  std::string why;
  const std::uint64_t used = budget_->used.fetch_add(total);
  charged_ = total;
  if (total > budget_->limit || used > budget_->limit - total) {
    why = "no room for a copy of " + std::to_string(total) + " bytes (" + std::to_string(used) + " of " +
          std::to_string(budget_->limit) + " in use)";
  } else {
    host_ = recording.device.allocate_readback(total);
    if (!host_) {
      why = "no memory for a copy of " + std::to_string(total) + " bytes";
    }
  }
  if (!why.empty()) {
    budget_->used.fetch_sub(charged_);
    charged_ = 0;
    for (Part& part : parts_) {
      if (part.bytes != 0) {
        part.bytes = 0;
        part.missing = why;
      }
    }
    return false;
  }
  barrier(recording, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_TRANSFER_READ_BIT);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    regions.push_back(copies[i].region);
    regions.back().dstOffset += host_.offset;
    if (i + 1 == copies.size() || copies[i + 1].buffer != copies[i].buffer) {
      recording.device.vk.CmdCopyBuffer(recording.handle, copies[i].buffer, host_.buffer,
                                        static_cast<std::uint32_t>(regions.size()), regions.data());
      regions.clear();
    }
  }
  // Later commands may overwrite the memory that was read; the host reads the copies.
  barrier(recording, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return true;
}

void CopyBatch::invalidate() const {
  if (host_) {
    host_.invalidate();
  }
}

Window CopyBatch::window(std::size_t index) const {
  const Part& part = parts_.at(index);
  Window window;
  window.address = part.address;
  window.missing = part.missing;
  if (part.bytes != 0 && host_) {
    window.bytes = part.bytes;
    window.data = host_.data + part.host;
  } else if (part.bytes != 0) {
    window.missing = "there was no memory to copy them with";
  }
  return window;
}

}  // namespace rayreplay::layer::geometry
