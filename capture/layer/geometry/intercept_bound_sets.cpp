// Command buffers: the descriptor sets bound for ray tracing.
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Runs `work(state, bound sets)` for a command buffer, if geometry is tracked.
template <class Work>
void follow(Device& device, VkCommandBuffer commands, Work&& work) {
  State* state = state_of(device);
  CommandRecording* recording = state == nullptr ? nullptr : recording_of(device, commands);
  if (recording == nullptr) {
    return;
  }
  const bool followed = attempt("following bound descriptor sets", [&] {
    if (recording->descriptors == nullptr) {
      recording->descriptors = std::make_shared<BoundSets>();
    }
    work(*state, *std::static_pointer_cast<BoundSets>(recording->descriptors));
  });
  if (!followed) {
    recording->descriptors.reset();  // unknown is better than outdated
  }
}

void bind(BoundSets& bound, std::uint32_t first, std::uint32_t count, const VkDescriptorSet* sets) {
  for (std::uint32_t i = 0; i < count; ++i) {
    bound.slots[first + i] = {sets[i], false, {}};
  }
}

/// The pushed state of a set; empty if another kind of set was bound there.
SetContents& pushed(BoundSets& bound, std::uint32_t set) {
  BoundSets::Slot& slot = bound.slots[set];
  if (slot.set != VK_NULL_HANDLE || slot.unknown) {
    slot = {};
  }
  return slot.pushed;
}

void push(State& state, BoundSets& bound, VkPipelineLayout layout, std::uint32_t set, std::uint32_t count,
          const VkWriteDescriptorSet* writes) {
  SetContents& to = pushed(bound, set);
  const std::scoped_lock lock(state.mutex);
  for (std::uint32_t i = 0; i < count; ++i) {
    state.descriptors.push(to, layout, set, writes[i]);
  }
}

void push_template(State& state, BoundSets& bound, VkPipelineLayout layout, std::uint32_t set,
                   VkDescriptorUpdateTemplate made, const void* data) {
  const std::scoped_lock lock(state.mutex);
  if (state.descriptors.pushes(made)) {
    state.descriptors.push_template(pushed(bound, set), layout, set, made, data);
  }
}

void set_unknown(BoundSets& bound, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    bound.slots[first + i] = {VK_NULL_HANDLE, true, {}};
  }
}

void bind_sets(Device& device, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
               std::uint32_t first, std::uint32_t count, const VkDescriptorSet* sets, std::uint32_t dynamic_count,
               const std::uint32_t* dynamic_offsets) {
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State&, BoundSets& bound) { bind(bound, first, count, sets); });
  }
  device.vk.CmdBindDescriptorSets(commands, point, layout, first, count, sets, dynamic_count, dynamic_offsets);
}

void push_set(Device& device, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
              std::uint32_t set, std::uint32_t count, const VkWriteDescriptorSet* writes) {
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State& state, BoundSets& bound) { push(state, bound, layout, set, count, writes); });
  }
  device.vk.CmdPushDescriptorSetKHR(commands, point, layout, set, count, writes);
}

void push_set_with_template(Device& device, VkCommandBuffer commands, VkDescriptorUpdateTemplate made,
                            VkPipelineLayout layout, std::uint32_t set, const void* data) {
  follow(device, commands,
         [&](State& state, BoundSets& bound) { push_template(state, bound, layout, set, made, data); });
  device.vk.CmdPushDescriptorSetWithTemplateKHR(commands, made, layout, set, data);
}

void bind_sets2(Device& device, VkCommandBuffer commands, const BindDescriptorSetsInfo* info) {
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands,
           [&](State&, BoundSets& bound) { bind(bound, info->first_set, info->set_count, info->sets); });
  }
  device.vk.CmdBindDescriptorSets2(commands, info);
}

void push_set2(Device& device, VkCommandBuffer commands, const PushDescriptorSetInfo* info) {
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands, [&](State& state, BoundSets& bound) {
      push(state, bound, info->layout, info->set, info->write_count, info->writes);
    });
  }
  device.vk.CmdPushDescriptorSet2(commands, info);
}

void push_set_with_template2(Device& device, VkCommandBuffer commands, const PushDescriptorSetWithTemplateInfo* info) {
  follow(device, commands, [&](State& state, BoundSets& bound) {
    push_template(state, bound, info->layout, info->set, info->update_template, info->data);
  });
  device.vk.CmdPushDescriptorSetWithTemplate2(commands, info);
}

void set_buffer_offsets(Device& device, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                        std::uint32_t first, std::uint32_t count, const std::uint32_t* buffers,
                        const VkDeviceSize* offsets) {
  if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    follow(device, commands, [&](State&, BoundSets& bound) { set_unknown(bound, first, count); });
  }
  device.vk.CmdSetDescriptorBufferOffsetsEXT(commands, point, layout, first, count, buffers, offsets);
}

void set_buffer_offsets2(Device& device, VkCommandBuffer commands, const SetDescriptorBufferOffsetsInfo* info) {
  if ((info->stages & kRayStages) != 0) {
    follow(device, commands, [&](State&, BoundSets& bound) { set_unknown(bound, info->first_set, info->set_count); });
  }
  device.vk.CmdSetDescriptorBufferOffsets2EXT(commands, info);
}

}  // namespace

std::span<const Intercept> bound_set_intercepts() {
  static const Intercept kTable[] = {
      intercept<bind_sets, &DeviceDispatch::CmdBindDescriptorSets>("vkCmdBindDescriptorSets"),
      intercept<bind_sets2, &DeviceDispatch::CmdBindDescriptorSets2>("vkCmdBindDescriptorSets2"),
      intercept<bind_sets2, &DeviceDispatch::CmdBindDescriptorSets2>("vkCmdBindDescriptorSets2KHR"),
      intercept<push_set, &DeviceDispatch::CmdPushDescriptorSetKHR>("vkCmdPushDescriptorSet"),
      intercept<push_set, &DeviceDispatch::CmdPushDescriptorSetKHR>("vkCmdPushDescriptorSetKHR"),
      intercept<push_set2, &DeviceDispatch::CmdPushDescriptorSet2>("vkCmdPushDescriptorSet2"),
      intercept<push_set2, &DeviceDispatch::CmdPushDescriptorSet2>("vkCmdPushDescriptorSet2KHR"),
      intercept<push_set_with_template, &DeviceDispatch::CmdPushDescriptorSetWithTemplateKHR>(
          "vkCmdPushDescriptorSetWithTemplate"),
      intercept<push_set_with_template, &DeviceDispatch::CmdPushDescriptorSetWithTemplateKHR>(
          "vkCmdPushDescriptorSetWithTemplateKHR"),
      intercept<push_set_with_template2, &DeviceDispatch::CmdPushDescriptorSetWithTemplate2>(
          "vkCmdPushDescriptorSetWithTemplate2"),
      intercept<push_set_with_template2, &DeviceDispatch::CmdPushDescriptorSetWithTemplate2>(
          "vkCmdPushDescriptorSetWithTemplate2KHR"),
      intercept<set_buffer_offsets, &DeviceDispatch::CmdSetDescriptorBufferOffsetsEXT>(
          "vkCmdSetDescriptorBufferOffsetsEXT"),
      intercept<set_buffer_offsets2, &DeviceDispatch::CmdSetDescriptorBufferOffsets2EXT>(
          "vkCmdSetDescriptorBufferOffsets2EXT"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
