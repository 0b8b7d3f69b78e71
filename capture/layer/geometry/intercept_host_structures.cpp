// Acceleration structures built and copied by the host. The inputs of a deferred build stay unchanged until it is done:
// they are read when it is requested, and the content counts from then on, as nothing may use the structure before.
#include <utility>

#include <cstring>

#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/operations.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

bool succeeded(VkResult result) {
  return result == VK_SUCCESS || result == VK_OPERATION_DEFERRED_KHR || result == VK_OPERATION_NOT_DEFERRED_KHR;
}

VkResult build_on_host(Device& device, VkDevice handle, VkDeferredOperationKHR deferred, std::uint32_t count,
                       const VkAccelerationStructureBuildGeometryInfoKHR* infos,
                       const VkAccelerationStructureBuildRangeInfoKHR* const* ranges) {
  const VkResult result = device.vk.BuildAccelerationStructuresKHR(handle, deferred, count, infos, ranges);
  State* state = state_of(device);
  if (state != nullptr && succeeded(result)) {
    attempt("following builds by the host", [&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        const BuildPlan plan = plan_of(infos[i], ranges[i]);
        const std::scoped_lock lock(state->mutex);
        if (const StructurePointer target = state->structures.get(infos[i].dstAccelerationStructure)) {
          state->set_content(*target, content_of_host(plan, state->structures));
        }
      }
    });
  }
  return result;
}

VkResult copy_on_host(Device& device, VkDevice handle, VkDeferredOperationKHR deferred,
                      const VkCopyAccelerationStructureInfoKHR* info) {
  const VkResult result = device.vk.CopyAccelerationStructureKHR(handle, deferred, info);
  State* state = state_of(device);
  if (state != nullptr && succeeded(result)) {
    attempt("following a copy by the host", [&] {
      const std::scoped_lock lock(state->mutex);
      const StructurePointer from = state->structures.get(info->src);
      const StructurePointer to = state->structures.get(info->dst);
      if (from != nullptr && to != nullptr) {
        set_copied(*state, *from, *to);
      }
    });
  }
  return result;
}

/// The bytes of serialised data in the application's memory: their header says how many.
Window serialized_at(const void* data) {
  constexpr std::size_t kSizeOffset = 2 * VK_UUID_SIZE;
  Window window;
  window.data = static_cast<const std::uint8_t*>(data);
  std::memcpy(&window.bytes, window.data + kSizeOffset, sizeof window.bytes);
  return window;
}

VkResult copy_to_memory_on_host(Device& device, VkDevice handle, VkDeferredOperationKHR deferred,
                                const VkCopyAccelerationStructureToMemoryInfoKHR* info) {
  const VkResult result = device.vk.CopyAccelerationStructureToMemoryKHR(handle, deferred, info);
  State* state = state_of(device);
  if (state != nullptr && succeeded(result)) {
    attempt("following a serialisation by the host", [&] {
      if (result == VK_OPERATION_DEFERRED_KHR) {
        note(
            "an acceleration structure was serialised by a deferred operation: what is deserialised from it will be "
            "unknown");
        return;
      }
      const Window window = serialized_at(info->dst.hostAddress);
      const auto view = view_serialized({window.data, window.bytes});
      const std::scoped_lock lock(state->mutex);
      const StructurePointer from = state->structures.get(info->src);
      if (view && from != nullptr) {
        state->serialized.put(*view, from->content);
      }
    });
  }
  return result;
}

VkResult copy_from_memory_on_host(Device& device, VkDevice handle, VkDeferredOperationKHR deferred,
                                  const VkCopyMemoryToAccelerationStructureInfoKHR* info) {
  const VkResult result = device.vk.CopyMemoryToAccelerationStructureKHR(handle, deferred, info);
  State* state = state_of(device);
  if (state != nullptr && succeeded(result)) {
    attempt("following a deserialisation by the host", [&] {
      const std::scoped_lock lock(state->mutex);
      if (const StructurePointer to = state->structures.get(info->dst)) {
        set_deserialized(*state, *to, serialized_at(info->src.hostAddress));
      }
    });
  }
  return result;
}

}  // namespace

std::span<const Intercept> host_structure_intercepts() {
  static const Intercept kTable[] = {
      intercept<build_on_host, &DeviceDispatch::BuildAccelerationStructuresKHR>("vkBuildAccelerationStructuresKHR"),
      intercept<copy_on_host, &DeviceDispatch::CopyAccelerationStructureKHR>("vkCopyAccelerationStructureKHR"),
      intercept<copy_to_memory_on_host, &DeviceDispatch::CopyAccelerationStructureToMemoryKHR>(
          "vkCopyAccelerationStructureToMemoryKHR"),
      intercept<copy_from_memory_on_host, &DeviceDispatch::CopyMemoryToAccelerationStructureKHR>(
          "vkCopyMemoryToAccelerationStructureKHR"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
