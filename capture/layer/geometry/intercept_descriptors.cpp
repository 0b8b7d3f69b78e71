// Descriptor sets: which acceleration structures are written into them.
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/pipelines.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Runs `work(tables)` under the lock, if geometry is tracked.
template <class Work>
void follow(Device* device, Work&& work) {
  if (State* state = state_of(device)) {
    attempt("following descriptors", [&] {
      const std::scoped_lock lock(state->mutex);
      work(state->descriptors);
    });
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_set_layout(VkDevice handle, const VkDescriptorSetLayoutCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkDescriptorSetLayout* layout) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const VkResult result = device->vk.CreateDescriptorSetLayout(handle, info, allocator, layout);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_layout(*layout, *info); });
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_set_layout(VkDevice handle, VkDescriptorSetLayout layout,
                                              const VkAllocationCallbacks* allocator) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  follow(device, [&](DescriptorTable& table) { table.remove_layout(layout); });
  device->vk.DestroyDescriptorSetLayout(handle, layout, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipeline_layout(VkDevice handle, const VkPipelineLayoutCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator,
                                                      VkPipelineLayout* layout) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const VkResult result = device->vk.CreatePipelineLayout(handle, info, allocator, layout);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_pipeline_layout(*layout, *info); });
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_pipeline_layout(VkDevice handle, VkPipelineLayout layout,
                                                   const VkAllocationCallbacks* allocator) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  follow(device, [&](DescriptorTable& table) { table.remove_pipeline_layout(layout); });
  drop_pipeline_layout(*device, layout, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice handle, const VkDescriptorSetAllocateInfo* info,
                                             VkDescriptorSet* sets) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const VkResult result = device->vk.AllocateDescriptorSets(handle, info, sets);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) {
      for (std::uint32_t i = 0; i < info->descriptorSetCount; ++i) {
        table.add_set(sets[i], info->descriptorPool, info->pSetLayouts[i]);
      }
    });
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL free_sets(VkDevice handle, VkDescriptorPool pool, std::uint32_t count,
                                         const VkDescriptorSet* sets) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  follow(device, [&](DescriptorTable& table) {
    for (std::uint32_t i = 0; i < count; ++i) {
      table.remove_set(sets[i]);
    }
  });
  return device->vk.FreeDescriptorSets(handle, pool, count, sets);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_pool(VkDevice handle, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  follow(device, [&](DescriptorTable& table) { table.remove_pool(pool); });
  return device->vk.ResetDescriptorPool(handle, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice handle, VkDescriptorPool pool,
                                        const VkAllocationCallbacks* allocator) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  follow(device, [&](DescriptorTable& table) { table.remove_pool(pool); });
  device->vk.DestroyDescriptorPool(handle, pool, allocator);
}

VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice handle, std::uint32_t write_count, const VkWriteDescriptorSet* writes,
                                       std::uint32_t copy_count, const VkCopyDescriptorSet* copies) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  // Most updates concern other descriptors: they take no lock.
  bool concerned = copy_count != 0;
  for (std::uint32_t i = 0; i < write_count && !concerned; ++i) {
    concerned = structures_of(writes[i]) != nullptr;
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
  device->vk.UpdateDescriptorSets(handle, write_count, writes, copy_count, copies);
}

VKAPI_ATTR VkResult VKAPI_CALL create_template(VkDevice handle, const VkDescriptorUpdateTemplateCreateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkDescriptorUpdateTemplate* made) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const VkResult result = device->vk.CreateDescriptorUpdateTemplate(handle, info, allocator, made);
  if (result == VK_SUCCESS) {
    follow(device, [&](DescriptorTable& table) { table.add_template(*made, *info); });
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_template(VkDevice handle, VkDescriptorUpdateTemplate made,
                                            const VkAllocationCallbacks* allocator) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  follow(device, [&](DescriptorTable& table) { table.remove_template(made); });
  device->vk.DestroyDescriptorUpdateTemplate(handle, made, allocator);
}

VKAPI_ATTR void VKAPI_CALL update_with_template(VkDevice handle, VkDescriptorSet set, VkDescriptorUpdateTemplate made,
                                                const void* data) {
  Device* device = device_of(handle);
  if (device == nullptr) {
    return;
  }
  follow(device, [&](DescriptorTable& table) { table.write_template(set, made, data); });
  device->vk.UpdateDescriptorSetWithTemplate(handle, set, made, data);
}

}  // namespace

void add_descriptor_intercepts(std::vector<Intercept>& table) {
  add(table, "vkCreateDescriptorSetLayout", create_set_layout);
  add(table, "vkDestroyDescriptorSetLayout", destroy_set_layout);
  add(table, "vkCreatePipelineLayout", create_pipeline_layout);
  add(table, "vkDestroyPipelineLayout", destroy_pipeline_layout);
  add(table, "vkAllocateDescriptorSets", allocate_sets);
  add(table, "vkFreeDescriptorSets", free_sets);
  add(table, "vkResetDescriptorPool", reset_pool);
  add(table, "vkDestroyDescriptorPool", destroy_pool);
  add(table, "vkUpdateDescriptorSets", update_sets);
  add(table, "vkCreateDescriptorUpdateTemplate", create_template);
  add(table, "vkCreateDescriptorUpdateTemplateKHR", create_template);
  add(table, "vkDestroyDescriptorUpdateTemplate", destroy_template);
  add(table, "vkDestroyDescriptorUpdateTemplateKHR", destroy_template);
  add(table, "vkUpdateDescriptorSetWithTemplate", update_with_template);
  add(table, "vkUpdateDescriptorSetWithTemplateKHR", update_with_template);
}

}  // namespace rayreplay::layer::geometry
