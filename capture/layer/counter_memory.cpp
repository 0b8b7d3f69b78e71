#include "capture/layer/counter_memory.hpp"

#include <algorithm>
#include <cstring>

namespace rayreplay::layer {
namespace {

constexpr VkDeviceSize kCounterAlignment = 256;
constexpr VkDeviceSize kCounterBlockBytes = VkDeviceSize{1} << 20U;

}  // namespace

ModuleCounters::~ModuleCounters() {
  if (block_ != 0) {
    memory_.take_back(block_);
  }
}

std::vector<std::uint32_t> words_with(const instrument::Result& twin, const ModuleCounters& counters) {
  auto words = twin.spirv;
  const auto& layout = counters.layout();
  words[layout.address_word] = static_cast<std::uint32_t>(counters.address);
  words[layout.address_word + 1] = static_cast<std::uint32_t>(counters.address >> 32U);
  if (layout.mark_word != 0) {
    words[layout.mark_word] = counters.mark();
  }
  return words;
}

CounterMemory::~CounterMemory() {
  for (auto& block : blocks_) {
    device_.free(block.buffer);
  }
}

bool CounterMemory::allocate(Block& block, VkDeviceSize bytes) {
  if (kind_ == Kind::Device) {
    block.buffer = device_.allocate_device(bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    return block.buffer.buffer != VK_NULL_HANDLE;
  }
  constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // Atomics are faster in the device's own memory, if the host sees it.
  for (const VkMemoryPropertyFlags kind : {kMapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kMapped}) {
    block.buffer = device_.allocate_device(bytes, 0, kind);
    void* mapped = nullptr;
    if (block.buffer.buffer != VK_NULL_HANDLE &&
        device_.vk.MapMemory(device_.handle, block.buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS) {
      block.mapped = static_cast<std::byte*>(mapped);
      return true;
    }
    device_.free(block.buffer);
  }
  return false;
}

std::shared_ptr<const ModuleCounters> CounterMemory::give(const std::shared_ptr<const instrument::Result>& twin) {
  auto counters = std::make_shared<ModuleCounters>(*this, twin);
  const auto wanted = (counters->bytes() + kCounterAlignment - 1) / kCounterAlignment * kCounterAlignment;
  const std::scoped_lock lock(mutex_);
  auto block = std::find_if(blocks_.begin(), blocks_.end(),
                            [&](const auto& known) { return known.buffer.bytes - known.used >= wanted; });
  if (block == blocks_.end()) {
    block = blocks_.emplace(blocks_.end());
    block->number = next_block_++;
    if (!allocate(*block, std::max(wanted, kCounterBlockBytes))) {
      blocks_.erase(block);
      return nullptr;
    }
  }
  counters->buffer = block->buffer.buffer;
  counters->offset = block->used;
  counters->address = block->buffer.address + block->used;
  if (block->mapped != nullptr) {
    std::memset(block->mapped + block->used, 0, wanted);
    counters->mapped = block->mapped + block->used;
  }
  counters->block_ = block->number;
  counters->mark_ = next_mark_++;
  block->used += wanted;
  ++block->ranges;
  return counters;
}

void CounterMemory::take_back(std::size_t number) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto block =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& known) { return known.number == number; });
  if (block != blocks_.end() && --block->ranges == 0) {
    block->used = 0;
  }
}

}  // namespace rayreplay::layer
