#include "capture/layer/counter_memory.hpp"

#include <algorithm>

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

CounterMemory::~CounterMemory() {
  for (auto& block : blocks_) {
    device_.free(block.buffer);
  }
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
    block->buffer = device_.allocate_device(std::max(wanted, kCounterBlockBytes), VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    if (block->buffer.buffer == VK_NULL_HANDLE) {
      blocks_.erase(block);
      return nullptr;
    }
  }
  counters->buffer = block->buffer.buffer;
  counters->offset = block->used;
  counters->address = block->buffer.address + block->used;
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
