// Acceleration structures on the device: creation, builds, copies.
#include <utility>

#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/operations.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// The state and the recording of a command buffer; both null if geometry is not tracked or the buffer is unknown.
struct Recorder {
  Recorder(Device& device, VkCommandBuffer commands) : state(state_of(device)) {
    recording = state == nullptr ? nullptr : recording_of(device, commands);
  }
  explicit operator bool() const {
    return recording != nullptr;
  }
  State* state;
  CommandRecording* recording = nullptr;
};

/// The object of a handle; made if its creation was not seen. The mutex is held.
StructurePointer object_of(State& state, VkAccelerationStructureKHR handle) {
  StructurePointer object = state.structures.get(handle);
  return object != nullptr ? object : state.structures.create(handle, VK_ACCELERATION_STRUCTURE_TYPE_GENERIC_KHR, 0);
}

VkResult create_structure(Device& device, VkDevice handle, const VkAccelerationStructureCreateInfoKHR* info,
                          const VkAllocationCallbacks* allocator, VkAccelerationStructureKHR* structure) {
  const VkResult result = device.vk.CreateAccelerationStructureKHR(handle, info, allocator, structure);
  State* state = state_of(device);
  if (state != nullptr && result == VK_SUCCESS) {
    attempt("keeping an acceleration structure", [&] {
      bool addressable = false;
      {
        const std::scoped_lock lock(state->mutex);
        state->structures.create(*structure, info->type, 0);
        const AddressMap::Buffer* buffer = state->buffers.get(info->buffer);
        addressable = buffer != nullptr && (buffer->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
      }
      // Without an address of its buffer a structure has none either, unless the application asks for it itself.
      if (addressable && device.vk.GetAccelerationStructureDeviceAddressKHR) {
        const VkAccelerationStructureDeviceAddressInfoKHR query{
            VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR, nullptr, *structure};
        const VkDeviceAddress address = device.vk.GetAccelerationStructureDeviceAddressKHR(handle, &query);
        const std::scoped_lock lock(state->mutex);
        state->structures.set_address(*structure, address);
      }
    });
  }
  return result;
}

void destroy_structure(Device& device, VkDevice handle, VkAccelerationStructureKHR structure,
                       const VkAllocationCallbacks* allocator) {
  if (State* state = state_of(device)) {
    attempt("forgetting an acceleration structure", [&] {
      const std::scoped_lock lock(state->mutex);
      state->structures.destroy(structure);
    });
  }
  device.vk.DestroyAccelerationStructureKHR(handle, structure, allocator);
}

VkDeviceAddress structure_address(Device& device, VkDevice handle,
                                  const VkAccelerationStructureDeviceAddressInfoKHR* info) {
  const VkDeviceAddress address = device.vk.GetAccelerationStructureDeviceAddressKHR(handle, info);
  if (State* state = state_of(device)) {
    attempt("learning an acceleration structure's address", [&] {
      const std::scoped_lock lock(state->mutex);
      state->structures.set_address(info->accelerationStructure, address);
    });
  }
  return address;
}

void build(Device& device, VkCommandBuffer commands, std::uint32_t count,
           const VkAccelerationStructureBuildGeometryInfoKHR* infos,
           const VkAccelerationStructureBuildRangeInfoKHR* const* ranges) {
  const Recorder recorder(device, commands);
  if (recorder) {
    attempt("planning builds of acceleration structures", [&] {
      std::vector<BuildPlan> plans;
      for (std::uint32_t i = 0; i < count; ++i) {
        plans.push_back(plan_of(infos[i], ranges[i]));
        const std::scoped_lock lock(recorder.state->mutex);
        plans.back().target = object_of(*recorder.state, infos[i].dstAccelerationStructure);
      }
      record_builds(*recorder.state, *recorder.recording, std::move(plans));
    });
  }
  device.vk.CmdBuildAccelerationStructuresKHR(commands, count, infos, ranges);
}

void build_indirect(Device& device, VkCommandBuffer commands, std::uint32_t count,
                    const VkAccelerationStructureBuildGeometryInfoKHR* infos, const VkDeviceAddress* addresses,
                    const std::uint32_t* strides, const std::uint32_t* const* most_primitives) {
  const Recorder recorder(device, commands);
  if (recorder) {
    attempt("planning indirect builds of acceleration structures", [&] {
      std::vector<BuildPlan> plans;
      for (std::uint32_t i = 0; i < count; ++i) {
        plans.push_back(indirect_plan_of(infos[i], addresses[i], strides[i], most_primitives[i]));
        const std::scoped_lock lock(recorder.state->mutex);
        plans.back().target = object_of(*recorder.state, infos[i].dstAccelerationStructure);
      }
      record_builds(*recorder.state, *recorder.recording, std::move(plans));
    });
  }
  device.vk.CmdBuildAccelerationStructuresIndirectKHR(commands, count, infos, addresses, strides, most_primitives);
}

void copy(Device& device, VkCommandBuffer commands, const VkCopyAccelerationStructureInfoKHR* info) {
  const Recorder recorder(device, commands);
  if (recorder) {
    attempt("following a copied acceleration structure", [&] {
      StructurePointer from;
      StructurePointer to;
      {
        const std::scoped_lock lock(recorder.state->mutex);
        from = object_of(*recorder.state, info->src);
        to = object_of(*recorder.state, info->dst);
      }
      record_copy(*recorder.state, *recorder.recording, std::move(from), std::move(to));
    });
  }
  device.vk.CmdCopyAccelerationStructureKHR(commands, info);
}

void copy_to_memory(Device& device, VkCommandBuffer commands, const VkCopyAccelerationStructureToMemoryInfoKHR* info) {
  const Recorder recorder(device, commands);
  device.vk.CmdCopyAccelerationStructureToMemoryKHR(commands, info);
  if (recorder) {
    attempt("following a serialised acceleration structure", [&] {
      StructurePointer from;
      {
        const std::scoped_lock lock(recorder.state->mutex);
        from = object_of(*recorder.state, info->src);
      }
      record_serialize(*recorder.state, *recorder.recording, std::move(from), info->dst.deviceAddress);
    });
  }
}

void copy_from_memory(Device& device, VkCommandBuffer commands,
                      const VkCopyMemoryToAccelerationStructureInfoKHR* info) {
  const Recorder recorder(device, commands);
  if (recorder) {
    attempt("following a deserialised acceleration structure", [&] {
      StructurePointer to;
      {
        const std::scoped_lock lock(recorder.state->mutex);
        to = object_of(*recorder.state, info->dst);
      }
      record_deserialize(*recorder.state, *recorder.recording, info->src.deviceAddress, std::move(to));
    });
  }
  device.vk.CmdCopyMemoryToAccelerationStructureKHR(commands, info);
}

}  // namespace

std::span<const Intercept> structure_intercepts() {
  static const Intercept kTable[] = {
      intercept<create_structure, &DeviceDispatch::CreateAccelerationStructureKHR>("vkCreateAccelerationStructureKHR"),
      intercept<destroy_structure, &DeviceDispatch::DestroyAccelerationStructureKHR>(
          "vkDestroyAccelerationStructureKHR"),
      intercept<structure_address, &DeviceDispatch::GetAccelerationStructureDeviceAddressKHR>(
          "vkGetAccelerationStructureDeviceAddressKHR"),
      intercept<build, &DeviceDispatch::CmdBuildAccelerationStructuresKHR>("vkCmdBuildAccelerationStructuresKHR"),
      intercept<build_indirect, &DeviceDispatch::CmdBuildAccelerationStructuresIndirectKHR>(
          "vkCmdBuildAccelerationStructuresIndirectKHR"),
      intercept<copy, &DeviceDispatch::CmdCopyAccelerationStructureKHR>("vkCmdCopyAccelerationStructureKHR"),
      intercept<copy_to_memory, &DeviceDispatch::CmdCopyAccelerationStructureToMemoryKHR>(
          "vkCmdCopyAccelerationStructureToMemoryKHR"),
      intercept<copy_from_memory, &DeviceDispatch::CmdCopyMemoryToAccelerationStructureKHR>(
          "vkCmdCopyMemoryToAccelerationStructureKHR"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
