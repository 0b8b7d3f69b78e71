#include "capture/layer/event_memory.hpp"

#include <algorithm>
#include <string>

#include "capture/instrument/probes/record.h"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::uint64_t kMaxMemory = std::uint64_t{8} << 30U;
constexpr std::uint64_t kMaxMemoryOfCpu = std::uint64_t{512} << 20U;
constexpr std::uint64_t kEventAlignment = 16;
constexpr VkBufferUsageFlags kCopied = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

std::uint64_t default_memory(const Device& device) {
  std::uint64_t heap = 0;
  for (std::uint32_t i = 0; i < device.memory.memoryHeapCount; ++i) {
    if ((device.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      heap = std::max(heap, device.memory.memoryHeaps[i].size);
    }
  }
  const bool cpu = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  return std::min(heap / 4, cpu ? kMaxMemoryOfCpu : kMaxMemory);
}

std::uint64_t wanted_bytes(const Device& device) {
  if (!options().record) {
    return 0;
  }
  return (options().memory != 0 ? options().memory : default_memory(device)) / kEventAlignment * kEventAlignment;
}

}  // namespace

EventMemory::~EventMemory() {
  device_.free(device_.events);
  device_.free(device_.control);
}

std::uint64_t EventMemory::wanted_words() const {
  return wanted_bytes(device_) / sizeof(std::uint32_t);
}

/// The event buffer is smaller than wanted if the device does not have as much.
void EventMemory::allocate() {
  device_.control = device_.allocate_device(RR_CONTROL_BYTES, kCopied);
  const auto wanted = wanted_bytes(device_);
  if (wanted == 0 || device_.control.buffer == VK_NULL_HANDLE) {
    return;
  }
  auto bytes = wanted;
  while (bytes >= kMinMemory && device_.events.buffer == VK_NULL_HANDLE) {
    device_.events = device_.allocate_device(bytes, kCopied);
    if (device_.events.buffer == VK_NULL_HANDLE) {
      bytes = bytes / 2 / kEventAlignment * kEventAlignment;
    }
  }
  device_.events_words = device_.events.bytes / sizeof(std::uint32_t);
  if (device_.events.buffer != VK_NULL_HANDLE && bytes < wanted) {
    note("the device has no " + std::to_string(wanted) + " bytes for events: " + std::to_string(bytes) + " are used");
  }
}

bool EventMemory::prepare() noexcept {
  if (state_.load() == State::Unmade) {
    const std::scoped_lock lock(mutex_);
    if (state_.load() == State::Unmade) {
      attempt("making the event buffer", [this] { allocate(); });
      const bool enough = device_.events.buffer != VK_NULL_HANDLE || !options().record;
      if (!enough) {
        attempt("noting that there is no memory", [this] {
          note("device " + std::string(device_.properties.deviceName) +
               " has no memory for events: its launches are not captured");
        });
        device_.free(device_.control);
      }
      state_ = enough ? State::Made : State::Failed;
    }
  }
  return made();
}

}  // namespace rayreplay::layer
