#include "callables.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "Callable.spv.hpp"
#include "Callables.spv.hpp"

namespace scenario {
namespace {

// The constant in callable.rcall that each of the shaders made from it replaces.
constexpr std::uint32_t kConstantInShader = 0x5EED1234;
constexpr VkDeviceSize kRaygenBytes = 64;

VkShaderModule make_module(VkDevice device, const std::vector<std::uint32_t>& words) {
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = words.size() * sizeof(std::uint32_t);
  info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
  return module;
}

/// Layouts and the set of one buffer.
struct Binding {
  Binding(VkDevice device_in, VkBuffer buffer) : device(device_in) {
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR,
                                               nullptr};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 1;
    set_info.pBindings = &binding;
    check(vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout;
    check(vkCreatePipelineLayout(device, &info, nullptr, &layout), "vkCreatePipelineLayout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    check(vkCreateDescriptorPool(device, &pool_info, nullptr, &pool), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocation.descriptorPool = pool;
    allocation.descriptorSetCount = 1;
    allocation.pSetLayouts = &set_layout;
    check(vkAllocateDescriptorSets(device, &allocation, &set), "vkAllocateDescriptorSets");
    const VkDescriptorBufferInfo described{buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &described;
    vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  ~Binding() {
    vkDestroyDescriptorPool(device, pool, nullptr);
    vkDestroyPipelineLayout(device, layout, nullptr);
    vkDestroyDescriptorSetLayout(device, set_layout, nullptr);
  }

  VkDevice device;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
};

VkPipeline make_pipeline(Context& context, VkPipelineLayout layout, std::uint32_t count) {
  std::vector<VkPipelineShaderStageCreateInfo> stages(count + 1);
  std::vector<VkRayTracingShaderGroupCreateInfoKHR> groups(count + 1);
  std::vector<std::uint32_t> words(std::begin(kCallable), std::end(kCallable));
  const auto constant = std::find(words.begin(), words.end(), kConstantInShader);
  if (constant == words.end()) {
    fail("finding the constant of a callable shader", 0);
  }
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    *constant = i * 7919;
    auto& stage = stages[i];
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.stage = i == 0 ? VK_SHADER_STAGE_RAYGEN_BIT_KHR : VK_SHADER_STAGE_CALLABLE_BIT_KHR;
    stage.pName = "main";
    stage.module = make_module(
        context.device, i == 0 ? std::vector<std::uint32_t>(std::begin(kCallables), std::end(kCallables)) : words);
    auto& group = groups[i];
    group.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR;
    group.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR;
    group.generalShader = i;
    group.closestHitShader = group.anyHitShader = group.intersectionShader = VK_SHADER_UNUSED_KHR;
  }
  VkRayTracingPipelineCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR;
  info.stageCount = static_cast<std::uint32_t>(stages.size());
  info.pStages = stages.data();
  info.groupCount = static_cast<std::uint32_t>(groups.size());
  info.pGroups = groups.data();
  info.maxPipelineRayRecursionDepth = 1;
  info.layout = layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(context.vk.CreateRayTracingPipelinesKHR(context.device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, nullptr,
                                                &pipeline),
        "vkCreateRayTracingPipelinesKHR");
  for (const auto& stage : stages) {
    vkDestroyShaderModule(context.device, stage.module, nullptr);
  }
  return pipeline;
}

}  // namespace

std::string call_shaders(Context& context, std::uint32_t count) {
  auto values = context.make_buffer(std::uint64_t{count} * sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  std::string text;
  {
    const Binding binding(context.device, values.buffer);
    auto* pipeline = make_pipeline(context, binding.layout, count);
    const VkDeviceSize stride = context.handle_bytes;
    std::vector<std::uint8_t> handles((count + 1) * stride);
    check(context.vk.GetRayTracingShaderGroupHandlesKHR(context.device, pipeline, 0, count + 1, handles.size(),
                                                        handles.data()),
          "vkGetRayTracingShaderGroupHandlesKHR");
    auto table = context.make_buffer(kRaygenBytes + count * stride, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR);
    std::memcpy(table.data, handles.data(), stride);
    std::memcpy(static_cast<std::uint8_t*>(table.data) + kRaygenBytes, handles.data() + stride, count * stride);
    const VkStridedDeviceAddressRegionKHR raygen{table.address, stride, stride};
    const VkStridedDeviceAddressRegionKHR none{};
    const VkStridedDeviceAddressRegionKHR callable{table.address + kRaygenBytes, stride, count * stride};
    auto* commands = context.allocate(context.pool);
    begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, binding.layout, 0, 1, &binding.set, 0,
                            nullptr);
    context.vk.CmdTraceRaysKHR(commands, &raygen, &none, &none, &callable, count, 1, 1);
    end(commands);
    context.submit_and_wait(commands);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      sum = sum * 31 + static_cast<const std::uint32_t*>(values.data)[i];
    }
    text = std::to_string(sum);
    vkDestroyPipeline(context.device, pipeline, nullptr);
    context.free(table);
  }
  context.free(values);
  return text;
}

}  // namespace scenario
