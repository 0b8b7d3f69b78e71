// Buffers: extra usage flags, and their device addresses.
#include "capture/layer/geometry/buffer_usage.hpp"
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Asks for the address of a buffer with bound memory. The mutex is not held.
void learn_address(State& state, VkBuffer buffer) {
  attempt("learning a buffer's address", [&] {
    bool wanted = false;
    {
      const std::scoped_lock lock(state.mutex);
      const AddressMap::Buffer* known = state.buffers.get(buffer);
      wanted = known != nullptr && (known->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    }
    if (wanted && state.device.vk.GetBufferDeviceAddress) {
      const VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer};
      const VkDeviceAddress address = state.device.vk.GetBufferDeviceAddress(state.device.handle, &info);
      const std::scoped_lock lock(state.mutex);
      state.buffers.set_address(buffer, address);
    }
  });
}

VkResult create_buffer(Device& device, VkDevice handle, const VkBufferCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  State* state = state_of(device);
  if (state == nullptr) {
    return device.vk.CreateBuffer(handle, info, allocator, buffer);
  }
  VkResult result = VK_ERROR_UNKNOWN;
  AddressMap::Buffer made;
  attempt("making a buffer readable", [&] {
    const AmendedBuffer request(*info);
    result = device.vk.CreateBuffer(handle, &request.info(), allocator, buffer);
    made.usage = request.usage();
    made.readable = request.readable();
    if (result == VK_SUCCESS && (made.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 && !made.readable) {
      note(
          "a buffer was created with an extension that is not known here: what acceleration structures are built from "
          "it cannot be copied");
    }
  });
  if (result != VK_SUCCESS) {
    result = device.vk.CreateBuffer(handle, info, allocator, buffer);
    made.usage = info->usage;
    made.readable = (info->usage & VK_BUFFER_USAGE_TRANSFER_SRC_BIT) != 0;
  }
  if (result == VK_SUCCESS && (made.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) {
    attempt("keeping a buffer", [&] {
      made.buffer = *buffer;
      made.size = info->size;
      const std::scoped_lock lock(state->mutex);
      state->buffers.add(made);
    });
    if ((info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
      learn_address(*state, *buffer);  // sparse buffers have their address from the start
    }
  }
  return result;
}

void destroy_buffer(Device& device, VkDevice handle, VkBuffer buffer, const VkAllocationCallbacks* allocator) {
  if (State* state = state_of(device)) {
    attempt("forgetting a buffer", [&] {
      const std::scoped_lock lock(state->mutex);
      state->buffers.remove(buffer);
    });
  }
  device.vk.DestroyBuffer(handle, buffer, allocator);
}

VkResult bind_buffer_memory(Device& device, VkDevice handle, VkBuffer buffer, VkDeviceMemory memory,
                            VkDeviceSize offset) {
  const VkResult result = device.vk.BindBufferMemory(handle, buffer, memory, offset);
  State* state = state_of(device);
  if (state != nullptr && result == VK_SUCCESS) {
    learn_address(*state, buffer);
  }
  return result;
}

VkResult bind_buffer_memory2(Device& device, VkDevice handle, std::uint32_t count,
                             const VkBindBufferMemoryInfo* infos) {
  const VkResult result = device.vk.BindBufferMemory2(handle, count, infos);
  State* state = state_of(device);
  if (state != nullptr && result == VK_SUCCESS) {
    for (std::uint32_t i = 0; i < count; ++i) {
      learn_address(*state, infos[i].buffer);
    }
  }
  return result;
}

void get_device_buffer_memory_requirements(Device& device, VkDevice handle,
                                           const VkDeviceBufferMemoryRequirements* info,
                                           VkMemoryRequirements2* requirements) {
  const auto& next = device.vk.GetDeviceBufferMemoryRequirements;
  bool answered = false;
  if (state_of(device) != nullptr && info->pCreateInfo != nullptr) {
    attempt("making a buffer readable", [&] {
      const AmendedBuffer request(*info->pCreateInfo);
      VkDeviceBufferMemoryRequirements changed = *info;
      changed.pCreateInfo = &request.info();
      next(handle, &changed, requirements);
      answered = true;
    });
  }
  if (!answered) {
    next(handle, info, requirements);
  }
}

}  // namespace

std::span<const Intercept> buffer_intercepts() {
  static const Intercept kTable[] = {
      intercept<create_buffer, &DeviceDispatch::CreateBuffer>("vkCreateBuffer"),
      intercept<destroy_buffer, &DeviceDispatch::DestroyBuffer>("vkDestroyBuffer"),
      intercept<bind_buffer_memory, &DeviceDispatch::BindBufferMemory>("vkBindBufferMemory"),
      intercept<bind_buffer_memory2, &DeviceDispatch::BindBufferMemory2>("vkBindBufferMemory2"),
      intercept<bind_buffer_memory2, &DeviceDispatch::BindBufferMemory2>("vkBindBufferMemory2KHR"),
      intercept<get_device_buffer_memory_requirements, &DeviceDispatch::GetDeviceBufferMemoryRequirements>(
          "vkGetDeviceBufferMemoryRequirements"),
      intercept<get_device_buffer_memory_requirements, &DeviceDispatch::GetDeviceBufferMemoryRequirements>(
          "vkGetDeviceBufferMemoryRequirementsKHR"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
