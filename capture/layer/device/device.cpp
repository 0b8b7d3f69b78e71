#include "capture/layer/device/device.hpp"

#include <algorithm>
#include <limits>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/event_memory.hpp"
#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/pipelines/counted_pipelines.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/submissions.hpp"
#include "capture/layer/table_patch.hpp"
#include "capture/layer/timestamps.hpp"

namespace rayreplay::layer {

Device::Device() noexcept = default;
Device::~Device() = default;

HostBuffer Device::allocate_readback(VkDeviceSize bytes) {
  return readback ? readback->allocate(bytes) : HostBuffer();
}

std::uint32_t Device::memory_type(std::uint32_t bits, VkMemoryPropertyFlags required,
                                  VkMemoryPropertyFlags preferred) const {
  auto found = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const auto flags = memory.memoryTypes[i].propertyFlags;
    if ((bits >> i & 1U) == 0 || (flags & required) != required) {
      continue;
    }
    if ((flags & preferred) == preferred) {
      return i;
    }
    found = std::min(found, i);
  }
  return found;
}

DeviceBuffer Device::allocate_device(VkDeviceSize bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags kind) {
  DeviceBuffer result;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (family_indices.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(family_indices.size());
    info.pQueueFamilyIndices = family_indices.data();
  }
  if (vk.CreateBuffer(handle, &info, nullptr, &result.buffer) != VK_SUCCESS) {
    return {};
  }
  VkMemoryRequirements needs{};
  vk.GetBufferMemoryRequirements(handle, result.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = memory_type(needs.memoryTypeBits, kind, 0);
  if (allocation.memoryTypeIndex == std::numeric_limits<std::uint32_t>::max() ||
      vk.AllocateMemory(handle, &allocation, nullptr, &result.memory) != VK_SUCCESS) {
    result.memory = VK_NULL_HANDLE;
    free(result);
    return {};
  }
  if (vk.BindBufferMemory(handle, result.buffer, result.memory, 0) == VK_SUCCESS) {
    VkBufferDeviceAddressInfo address{};
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = result.buffer;
    result.address = vk.GetBufferDeviceAddress(handle, &address);
  }
  if (result.address == 0) {
    free(result);
    return {};
  }
  result.bytes = bytes;
  return result;
}

void Device::free(DeviceBuffer& buffer) {
  if (buffer.buffer != VK_NULL_HANDLE) {
    vk.DestroyBuffer(handle, buffer.buffer, nullptr);
  }
  if (buffer.memory != VK_NULL_HANDLE) {
    vk.FreeMemory(handle, buffer.memory, nullptr);
  }
  buffer = {};
}

std::string Device::name_of(std::uint64_t object) {
  const std::scoped_lock lock(names_mutex);
  const auto found = names.find(object);
  return found == names.end() ? std::string() : found->second;
}

Queue* Device::queue_of(VkQueue queue) const {
  const auto found =
      std::find_if(queues.begin(), queues.end(), [queue](const auto& known) { return known->handle == queue; });
  return found == queues.end() ? nullptr : found->get();
}

}  // namespace rayreplay::layer
