#include "capture/layer/readback.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "capture/layer/device/device.hpp"

namespace rayreplay::layer {
namespace {

// Also a multiple of nonCoherentAtomSize, which is at most 256.
constexpr VkDeviceSize kMapAlignment = 256;
constexpr VkDeviceSize kBlockBytes = VkDeviceSize{1} << 20U;

constexpr VkDeviceSize aligned(VkDeviceSize bytes) {
  return (bytes + kMapAlignment - 1) / kMapAlignment * kMapAlignment;
}

}  // namespace

HostBuffer::HostBuffer(HostBuffer&& other) noexcept {
  *this = std::move(other);
}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(buffer, other.buffer);
  std::swap(offset, other.offset);
  std::swap(bytes, other.bytes);
  std::swap(data, other.data);
  std::swap(pool_, other.pool_);
  std::swap(block_, other.block_);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (pool_ != nullptr) {
    pool_->release(*this);
  }
}

void HostBuffer::invalidate() const {
  if (pool_ != nullptr) {
    pool_->sync(*this, false);
  }
}

void HostBuffer::flush() const {
  if (pool_ != nullptr) {
    pool_->sync(*this, true);
  }
}

ReadbackPool::~ReadbackPool() {
  for (auto& [number, block] : blocks_) {
    destroy_block(block);
  }
}

auto ReadbackPool::take(Block& block, VkDeviceSize bytes) -> std::map<VkDeviceSize, Block::Range>::iterator {
  const auto found = std::find_if(block.ranges.begin(), block.ranges.end(), [bytes](const auto& range) {
    return !range.second.used && range.second.bytes >= bytes;
  });
  if (found == block.ranges.end()) {
    return found;
  }
  auto& range = found->second;
  if (range.bytes > bytes) {
    block.ranges.emplace(found->first + bytes, Block::Range{range.bytes - bytes, false});
  }
  range = {bytes, true};
  return found;
}

HostBuffer ReadbackPool::allocate(VkDeviceSize bytes) {
  HostBuffer result;
  if (bytes == 0 || bytes > std::numeric_limits<VkDeviceSize>::max() / 2) {
    return result;
  }
  const auto wanted = aligned(bytes);
  const std::scoped_lock lock(mutex_);
  const auto give = [&](std::size_t number, Block& block) {
    const auto range = take(block, wanted);
    if (range == block.ranges.end()) {
      return false;
    }
    result.buffer = block.buffer;
    result.offset = range->first;
    result.bytes = bytes;
    result.data = block.data + range->first;
    result.pool_ = this;
    result.block_ = number;
    return true;
  };
  for (auto& [number, block] : blocks_) {
    if (give(number, block)) {
      return result;
    }
  }
  // All host memory for a block is allocated before the device memory.
  std::map<std::size_t, Block> made;
  const auto number = next_block_++;
  auto& block = made[number];
  const auto size = std::max(wanted, kBlockBytes);
  block.ranges.emplace(0, Block::Range{wanted, false});
  if (size > wanted) {
    block.ranges.emplace(wanted, Block::Range{size - wanted, false});
  }
  if (make_block(size, block)) {
    blocks_.insert(made.extract(made.begin()));
    give(number, block);
  }
  return result;
}

bool ReadbackPool::make_block(VkDeviceSize bytes, Block& block) {
  const auto& vk = device_.vk;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (device_.family_indices.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(device_.family_indices.size());
    info.pQueueFamilyIndices = device_.family_indices.data();
  }
  if (vk.CreateBuffer(device_.handle, &info, nullptr, &block.buffer) != VK_SUCCESS) {
    block.buffer = VK_NULL_HANDLE;
    return false;
  }
  VkMemoryRequirements needs{};
  vk.GetBufferMemoryRequirements(device_.handle, block.buffer, &needs);
  // Reads of uncached host memory are some thousand times slower: used only if there is no other.
  const auto type = device_.memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                        VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = type;
  void* data = nullptr;
  if (type == std::numeric_limits<std::uint32_t>::max() ||
      vk.AllocateMemory(device_.handle, &allocation, nullptr, &block.memory) != VK_SUCCESS) {
    block.memory = VK_NULL_HANDLE;
    destroy_block(block);
    return false;
  }
  if (vk.BindBufferMemory(device_.handle, block.buffer, block.memory, 0) != VK_SUCCESS ||
      vk.MapMemory(device_.handle, block.memory, 0, VK_WHOLE_SIZE, 0, &data) != VK_SUCCESS) {
    destroy_block(block);
    return false;
  }
  block.data = static_cast<std::uint8_t*>(data);
  block.bytes = bytes;
  block.coherent = (device_.memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
  return true;
}

void ReadbackPool::destroy_block(Block& block) noexcept {
  if (block.buffer != VK_NULL_HANDLE) {
    device_.vk.DestroyBuffer(device_.handle, block.buffer, nullptr);
  }
  if (block.memory != VK_NULL_HANDLE) {
    device_.vk.FreeMemory(device_.handle, block.memory, nullptr);
  }
  block = {};
}

void ReadbackPool::release(HostBuffer& buffer) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = blocks_.find(buffer.block_);
  if (found == blocks_.end()) {
    return;
  }
  auto& ranges = found->second.ranges;
  auto range = ranges.find(buffer.offset);
  if (range == ranges.end()) {
    return;
  }
  range->second.used = false;
  if (const auto next = std::next(range); next != ranges.end() && !next->second.used) {
    range->second.bytes += next->second.bytes;
    ranges.erase(next);
  }
  if (range != ranges.begin()) {
    if (const auto previous = std::prev(range); !previous->second.used) {
      previous->second.bytes += range->second.bytes;
      ranges.erase(range);
      range = previous;
    }
  }
  // A large block is freed at once; small ones are kept for the next command buffer.
  if (range->second.bytes == found->second.bytes && range->second.bytes > kBlockBytes) {
    destroy_block(found->second);
    blocks_.erase(found);
  }
}

void ReadbackPool::sync(const HostBuffer& buffer, bool to_device) {
  VkMappedMemoryRange range{};
  {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(buffer.block_);
    if (found == blocks_.end() || found->second.coherent) {
      return;
    }
    range.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE;
    range.memory = found->second.memory;
    range.offset = buffer.offset;
    // Blocks are multiples of the alignment, but the memory's end may differ.
    range.size = buffer.offset + aligned(buffer.bytes) >= found->second.bytes ? VK_WHOLE_SIZE : aligned(buffer.bytes);
  }
  if (to_device) {
    device_.vk.FlushMappedMemoryRanges(device_.handle, 1, &range);
  } else {
    device_.vk.InvalidateMappedMemoryRanges(device_.handle, 1, &range);
  }
}

}  // namespace rayreplay::layer
