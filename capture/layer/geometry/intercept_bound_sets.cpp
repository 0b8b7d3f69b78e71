// Command buffers: which descriptor sets are bound for ray tracing.
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/newer_vulkan.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Runs `work(state, bound sets)` for a command buffer, if geometry is tracked.
template <class Work>
void follow(Device* device, VkCommandBuffer commands, Work&& work) {
  State* state = state_of(device);
  CommandRecording* recording = state == nullptr ? nullptr : recording_of(*device, commands);
  if (recording != nullptr) {
    attempt("following bound descriptor sets", [&] {
      if (recording->descriptors == nullptr) {
        recording->descriptors = std::make_shared<BoundSets>();
      }
      work(*state, *std::static_pointer_cast<BoundSets>(recording->descriptors));
    });
  }
}

void bind(BoundSets& bound, std::uint32_t first, std::uint32_t count, const VkDescriptorSet* sets) {
  for (std::uint32_t i = 0; i < count; ++i) {
    bound.slots[first + i] = {sets[i], false, {}};
  }
}

/// The pushed state of a set, from nothing if another kind of set was bound there.
SetStructures& pushed(BoundSets& bound, std::uint32_t set) {
  BoundSets::Slot& slot = bound.slots[set];
  if (slot.set != VK_NULL_HANDLE || slot.unknown) {
    slot = {};
  }
  return slot.pushed;
}

void push(State& state, BoundSets& bound, VkPipelineLayout layout, std::uint32_t set, std::uint32_t count,
          const VkWriteDescriptorSet* writes) {
  SetStructures& to = pushed(bound, set);
  const std::scoped_lock lock(state.mutex);
  for (std::uint32_t i = 0; i < count; ++i) {
    state.descriptors.push(to, layout, set, writes[i]);
  }
}

void push_template(State& state, BoundSets& bound, VkPipelineLayout layout, std::uint32_t set,
                   VkDescriptorUpdateTemplate made, const void* data) {
  const std::scoped_lock lock(state.mutex);
  if (state.descriptors.pushes_structures(made)) {
    state.descriptors.push_template(pushed(bound, set), layout, set, made, data);
  }
}

void set_unknown(BoundSets& bound, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    bound.slots[first + i] = {VK_NULL_HANDLE, true, {}};
  }
}

VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                                     std::uint32_t first, std::uint32_t count, const VkDescriptorSet* sets,
                                     std::uint32_t dynamic_count, const std::uint32_t* dynamic_offsets) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State&, BoundSets& bound) { bind(bound, first, count, sets); });
  }
  device->vk.CmdBindDescriptorSets(commands, point, layout, first, count, sets, dynamic_count, dynamic_offsets);
}

VKAPI_ATTR void VKAPI_CALL push_set(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                                    std::uint32_t set, std::uint32_t count, const VkWriteDescriptorSet* writes) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State& state, BoundSets& bound) { push(state, bound, layout, set, count, writes); });
  }
  device->vk.CmdPushDescriptorSetKHR(commands, point, layout, set, count, writes);
}

VKAPI_ATTR void VKAPI_CALL push_set_with_template(VkCommandBuffer commands, VkDescriptorUpdateTemplate made,
                                                  VkPipelineLayout layout, std::uint32_t set, const void* data) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  follow(device, commands,
         [&](State& state, BoundSets& bound) { push_template(state, bound, layout, set, made, data); });
  device->vk.CmdPushDescriptorSetWithTemplateKHR(commands, made, layout, set, data);
}

VKAPI_ATTR void VKAPI_CALL bind_sets2(VkCommandBuffer commands, const BindDescriptorSetsInfo* info) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands,
           [&](State&, BoundSets& bound) { bind(bound, info->first_set, info->set_count, info->sets); });
  }
  if (const auto next =
          next_function<BindDescriptorSets2>(*device, "vkCmdBindDescriptorSets2", "vkCmdBindDescriptorSets2KHR")) {
    next(commands, info);
  }
}

VKAPI_ATTR void VKAPI_CALL push_set2(VkCommandBuffer commands, const PushDescriptorSetInfo* info) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands, [&](State& state, BoundSets& bound) {
      push(state, bound, info->layout, info->set, info->write_count, info->writes);
    });
  }
  if (const auto next =
          next_function<PushDescriptorSet2>(*device, "vkCmdPushDescriptorSet2", "vkCmdPushDescriptorSet2KHR")) {
    next(commands, info);
  }
}

VKAPI_ATTR void VKAPI_CALL push_set_with_template2(VkCommandBuffer commands,
                                                   const PushDescriptorSetWithTemplateInfo* info) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  follow(device, commands, [&](State& state, BoundSets& bound) {
    push_template(state, bound, info->layout, info->set, info->update_template, info->data);
  });
  if (const auto next = next_function<PushDescriptorSetWithTemplate2>(*device, "vkCmdPushDescriptorSetWithTemplate2",
                                                                      "vkCmdPushDescriptorSetWithTemplate2KHR")) {
    next(commands, info);
  }
}

VKAPI_ATTR void VKAPI_CALL set_buffer_offsets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                              VkPipelineLayout layout, std::uint32_t first, std::uint32_t count,
                                              const std::uint32_t* buffers, const VkDeviceSize* offsets) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State&, BoundSets& bound) { set_unknown(bound, first, count); });
  }
  if (const auto next = reinterpret_cast<PFN_vkCmdSetDescriptorBufferOffsetsEXT>(
          device->vk.GetDeviceProcAddr(device->handle, "vkCmdSetDescriptorBufferOffsetsEXT"))) {
    next(commands, point, layout, first, count, buffers, offsets);
  }
}

VKAPI_ATTR void VKAPI_CALL set_buffer_offsets2(VkCommandBuffer commands, const SetDescriptorBufferOffsetsInfo* info) {
  Device* device = device_of(commands);
  if (device == nullptr) {
    return;
  }
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands, [&](State&, BoundSets& bound) { set_unknown(bound, info->first_set, info->set_count); });
  }
  if (const auto next = reinterpret_cast<SetDescriptorBufferOffsets2>(
          device->vk.GetDeviceProcAddr(device->handle, "vkCmdSetDescriptorBufferOffsets2EXT"))) {
    next(commands, info);
  }
}

}  // namespace

void add_bound_set_intercepts(std::vector<Intercept>& table) {
  add(table, "vkCmdBindDescriptorSets", bind_sets);
  add(table, "vkCmdBindDescriptorSets2", bind_sets2);
  add(table, "vkCmdBindDescriptorSets2KHR", bind_sets2);
  add(table, "vkCmdPushDescriptorSet", push_set);
  add(table, "vkCmdPushDescriptorSetKHR", push_set);
  add(table, "vkCmdPushDescriptorSet2", push_set2);
  add(table, "vkCmdPushDescriptorSet2KHR", push_set2);
  add(table, "vkCmdPushDescriptorSetWithTemplate", push_set_with_template);
  add(table, "vkCmdPushDescriptorSetWithTemplateKHR", push_set_with_template);
  add(table, "vkCmdPushDescriptorSetWithTemplate2", push_set_with_template2);
  add(table, "vkCmdPushDescriptorSetWithTemplate2KHR", push_set_with_template2);
  add(table, "vkCmdSetDescriptorBufferOffsetsEXT", set_buffer_offsets);
  add(table, "vkCmdSetDescriptorBufferOffsets2EXT", set_buffer_offsets2);
}

}  // namespace rayreplay::layer::geometry
