// Descriptor sets: what is written into them.
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Runs `work(tables)` under the lock, if geometry is tracked.
template <class Work>
void follow(Device& device, Work&& work) {
  State* state = state_of(device);
  if (state == nullptr) {
    return;
  }
  const std::scoped_lock lock(state->mutex);
  if (!attempt("following descriptors", [&] { work(state->descriptors); })) {
    state->descriptors.forget_sets();  // a missed change may leave a wrong object in a set
  }
}

VkResult create_set_layout(Device& device, VkDevice handle, const VkDescriptorSetLayoutCreateInfo* info,
                           const VkAllocationCallbacks* allocator, VkDescriptorSetLayout* layout) {
  const VkResult result = device.vk.CreateDescriptorSetLayout(handle, info, allocator, layout);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_layout(*layout, *info); });
  }
  return result;
}

void destroy_set_layout(Device& device, VkDevice handle, VkDescriptorSetLayout layout,
                        const VkAllocationCallbacks* allocator) {
  follow(device, [&](DescriptorTable& table) { table.remove_layout(layout); });
  device.vk.DestroyDescriptorSetLayout(handle, layout, allocator);
}

VkResult create_pipeline_layout(Device& device, VkDevice handle, const VkPipelineLayoutCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkPipelineLayout* layout) {
  const VkResult result = device.vk.CreatePipelineLayout(handle, info, allocator, layout);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_pipeline_layout(*layout, *info); });
  }
  return result;
}

void destroy_pipeline_layout(Device& device, VkDevice /*handle*/, VkPipelineLayout layout,
                             const VkAllocationCallbacks* allocator) {
  follow(device, [&](DescriptorTable& table) { table.remove_pipeline_layout(layout); });
  drop_pipeline_layout(device, layout, allocator);
}

VkResult allocate_sets(Device& device, VkDevice handle, const VkDescriptorSetAllocateInfo* info,
                       VkDescriptorSet* sets) {
  const VkResult result = device.vk.AllocateDescriptorSets(handle, info, sets);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) {
      for (std::uint32_t i = 0; i < info->descriptorSetCount; ++i) {
        table.add_set(sets[i], info->descriptorPool, info->pSetLayouts[i]);
      }
    });
  }
  return result;
}

VkResult free_sets(Device& device, VkDevice handle, VkDescriptorPool pool, std::uint32_t count,
                   const VkDescriptorSet* sets) {
  follow(device, [&](DescriptorTable& table) {
    for (std::uint32_t i = 0; i < count; ++i) {
      table.remove_set(sets[i]);
    }
  });
  return device.vk.FreeDescriptorSets(handle, pool, count, sets);
}

VkResult reset_pool(Device& device, VkDevice handle, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags) {
  follow(device, [&](DescriptorTable& table) { table.remove_pool(pool); });
  return device.vk.ResetDescriptorPool(handle, pool, flags);
}

void destroy_pool(Device& device, VkDevice handle, VkDescriptorPool pool, const VkAllocationCallbacks* allocator) {
  follow(device, [&](DescriptorTable& table) { table.remove_pool(pool); });
  device.vk.DestroyDescriptorPool(handle, pool, allocator);
}

void update_sets(Device& device, VkDevice handle, std::uint32_t write_count, const VkWriteDescriptorSet* writes,
                 std::uint32_t copy_count, const VkCopyDescriptorSet* copies) {
  // Most updates concern other descriptors: they take no lock.
  const State* state = state_of(device);
  bool concerned = copy_count != 0;
  for (std::uint32_t i = 0; i < write_count && !concerned && state != nullptr; ++i) {
    concerned = state->descriptors.concerns(writes[i]);
  }
  if (concerned) {
    follow(device, [&](DescriptorTable& table) {
      for (std::uint32_t i = 0; i < write_count; ++i) {
        table.write(writes[i]);
      }
      for (std::uint32_t i = 0; i < copy_count; ++i) {
        table.copy(copies[i]);
      }
    });
  }
  device.vk.UpdateDescriptorSets(handle, write_count, writes, copy_count, copies);
}

VkResult create_template(Device& device, VkDevice handle, const VkDescriptorUpdateTemplateCreateInfo* info,
                         const VkAllocationCallbacks* allocator, VkDescriptorUpdateTemplate* made) {
  const VkResult result = device.vk.CreateDescriptorUpdateTemplate(handle, info, allocator, made);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_template(*made, *info); });
  }
  return result;
}

void destroy_template(Device& device, VkDevice handle, VkDescriptorUpdateTemplate made,
                      const VkAllocationCallbacks* allocator) {
  follow(device, [&](DescriptorTable& table) { table.remove_template(made); });
  device.vk.DestroyDescriptorUpdateTemplate(handle, made, allocator);
}

void update_with_template(Device& device, VkDevice handle, VkDescriptorSet set, VkDescriptorUpdateTemplate made,
                          const void* data) {
  follow(device, [&](DescriptorTable& table) { table.write_template(set, made, data); });
  device.vk.UpdateDescriptorSetWithTemplate(handle, set, made, data);
}

}  // namespace

std::span<const Intercept> descriptor_intercepts() {
  static const Intercept kTable[] = {
      intercept<create_set_layout, &DeviceDispatch::CreateDescriptorSetLayout>("vkCreateDescriptorSetLayout"),
      intercept<destroy_set_layout, &DeviceDispatch::DestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout"),
      intercept<create_pipeline_layout, &DeviceDispatch::CreatePipelineLayout>("vkCreatePipelineLayout"),
      intercept<destroy_pipeline_layout, &DeviceDispatch::DestroyPipelineLayout>("vkDestroyPipelineLayout"),
      intercept<allocate_sets, &DeviceDispatch::AllocateDescriptorSets>("vkAllocateDescriptorSets"),
      intercept<free_sets, &DeviceDispatch::FreeDescriptorSets>("vkFreeDescriptorSets"),
      intercept<reset_pool, &DeviceDispatch::ResetDescriptorPool>("vkResetDescriptorPool"),
      intercept<destroy_pool, &DeviceDispatch::DestroyDescriptorPool>("vkDestroyDescriptorPool"),
      intercept<update_sets, &DeviceDispatch::UpdateDescriptorSets>("vkUpdateDescriptorSets"),
      intercept<create_template, &DeviceDispatch::CreateDescriptorUpdateTemplate>("vkCreateDescriptorUpdateTemplate"),
      intercept<create_template, &DeviceDispatch::CreateDescriptorUpdateTemplate>(
          "vkCreateDescriptorUpdateTemplateKHR"),
      intercept<destroy_template, &DeviceDispatch::DestroyDescriptorUpdateTemplate>(
          "vkDestroyDescriptorUpdateTemplate"),
      intercept<destroy_template, &DeviceDispatch::DestroyDescriptorUpdateTemplate>(
          "vkDestroyDescriptorUpdateTemplateKHR"),
      intercept<update_with_template, &DeviceDispatch::UpdateDescriptorSetWithTemplate>(
          "vkUpdateDescriptorSetWithTemplate"),
      intercept<update_with_template, &DeviceDispatch::UpdateDescriptorSetWithTemplate>(
          "vkUpdateDescriptorSetWithTemplateKHR"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
