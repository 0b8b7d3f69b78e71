#include "triangle.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "ClosestHit.spv.hpp"
#include "ImagesGeneration.spv.hpp"
#include "MarkedGeneration.spv.hpp"
#include "Miss.spv.hpp"
#include "NoRays.spv.hpp"
#include "RayGeneration.spv.hpp"

namespace scenario {
namespace {

constexpr VkDeviceSize kEntryBytes = 64;

struct Code {
  VkShaderStageFlagBits stage;
  const std::uint32_t* words;
  std::size_t bytes;
};

const Code kCode[3] = {
    {VK_SHADER_STAGE_RAYGEN_BIT_KHR, kRayGeneration, sizeof kRayGeneration},
    {VK_SHADER_STAGE_MISS_BIT_KHR, kMiss, sizeof kMiss},
    {VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, kClosestHit, sizeof kClosestHit},
};

VkShaderModuleCreateInfo module_info(const Code& code) {
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = code.bytes;
  info.pCode = code.words;
  return info;
}

VkRayTracingShaderGroupCreateInfoKHR group(std::uint32_t general, std::uint32_t closest_hit) {
  VkRayTracingShaderGroupCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR;
  info.type = general != VK_SHADER_UNUSED_KHR ? VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR
                                              : VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR;
  info.generalShader = general;
  info.closestHitShader = closest_hit;
  info.anyHitShader = VK_SHADER_UNUSED_KHR;
  info.intersectionShader = VK_SHADER_UNUSED_KHR;
  return info;
}

}  // namespace

Triangle::Triangle(Context& context, PipelineStyle style, bool inactive, VkDescriptorSetLayout images)
    : context_(context), style_(style), images_layout_(images) {
  picture_ = context.make_buffer(kPictureWords * sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  indirect_ = context.make_buffer(512, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  build(inactive);
  make_layout();
  pipeline = make_pipeline(style);
  make_table();
}

void Triangle::destroy() {
  vkDestroyPipeline(context_.device, pipeline, nullptr);
  for (auto* library : libraries_) {
    vkDestroyPipeline(context_.device, library, nullptr);
  }
  context_.vk.DestroyAccelerationStructureKHR(context_.device, top_, nullptr);
  context_.vk.DestroyAccelerationStructureKHR(context_.device, bottom_, nullptr);
  vkDestroyDescriptorPool(context_.device, descriptors_, nullptr);
  vkDestroyPipelineLayout(context_.device, layout_, nullptr);
  vkDestroyDescriptorSetLayout(context_.device, set_layout_, nullptr);
  for (auto* buffer :
       {&vertices_, &instances_, &scratch_, &bottom_memory_, &top_memory_, &table_, &picture_, &indirect_}) {
    context_.free(*buffer);
  }
}

void Triangle::make_layout() {
  const std::array<VkDescriptorSetLayoutBinding, 2> bindings = {{
      {0, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr},
  }};
  VkDescriptorSetLayoutCreateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = bindings.size();
  set_info.pBindings = bindings.data();
  check(vkCreateDescriptorSetLayout(context_.device, &set_info, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
  layout_ = make_pipeline_layout();
  const std::array<VkDescriptorPoolSize, 2> sizes = {
      {{VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1}, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}}};
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = sizes.size();
  pool_info.pPoolSizes = sizes.data();
  check(vkCreateDescriptorPool(context_.device, &pool_info, nullptr, &descriptors_), "vkCreateDescriptorPool");
  VkDescriptorSetAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = descriptors_;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &set_layout_;
  check(vkAllocateDescriptorSets(context_.device, &allocation, &set_), "vkAllocateDescriptorSets");
  VkWriteDescriptorSetAccelerationStructureKHR structure{};
  structure.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
  structure.accelerationStructureCount = 1;
  structure.pAccelerationStructures = &top_;
  const VkDescriptorBufferInfo picture{picture_.buffer, 0, VK_WHOLE_SIZE};
  std::array<VkWriteDescriptorSet, 2> writes{};
  writes[0].sType = writes[1].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  writes[0].dstSet = writes[1].dstSet = set_;
  writes[0].pNext = &structure;
  writes[0].descriptorCount = writes[1].descriptorCount = 1;
  writes[0].descriptorType = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
  writes[1].dstBinding = 1;
  writes[1].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  writes[1].pBufferInfo = &picture;
  vkUpdateDescriptorSets(context_.device, writes.size(), writes.data(), 0, nullptr);
}

VkPipelineLayout Triangle::make_pipeline_layout() {
  const VkPushConstantRange push{VK_SHADER_STAGE_RAYGEN_BIT_KHR, 0, 8};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  const VkDescriptorSetLayout sets[] = {set_layout_, images_layout_};
  info.setLayoutCount = images_layout_ == VK_NULL_HANDLE ? 1 : 2;
  info.pSetLayouts = sets;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &push;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(vkCreatePipelineLayout(context_.device, &info, nullptr, &layout), "vkCreatePipelineLayout");
  return layout;
}

void Triangle::build(bool inactive) {
  constexpr auto kInput = VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR;
  const float corners[9] = {-0.9F, -0.9F, 0, 0.9F, -0.9F, 0, 0, 0.9F, 0};
  vertices_ = context_.make_buffer(sizeof corners, kInput);
  std::memcpy(vertices_.data, corners, sizeof corners);
  instances_ = context_.make_buffer(2 * sizeof(VkAccelerationStructureInstanceKHR), kInput);
  scratch_ = context_.make_buffer(1U << 20U, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);

  auto* commands = context_.allocate(context_.pool);
  const auto make = [&](VkAccelerationStructureTypeKHR type, const VkAccelerationStructureGeometryKHR& geometry,
                        std::uint32_t count, Buffer& memory) {
    VkAccelerationStructureBuildGeometryInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR;
    info.type = type;
    info.geometryCount = 1;
    info.pGeometries = &geometry;
    VkAccelerationStructureBuildSizesInfoKHR sizes{};
    sizes.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR;
    context_.vk.GetAccelerationStructureBuildSizesKHR(context_.device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR,
                                                      &info, &count, &sizes);
    memory =
        context_.make_buffer(sizes.accelerationStructureSize, VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR);
    VkAccelerationStructureCreateInfoKHR create{};
    create.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR;
    create.buffer = memory.buffer;
    create.size = sizes.accelerationStructureSize;
    create.type = type;
    check(context_.vk.CreateAccelerationStructureKHR(context_.device, &create, nullptr, &info.dstAccelerationStructure),
          "vkCreateAccelerationStructureKHR");
    info.scratchData.deviceAddress = (scratch_.address + 255) / 256 * 256;
    const VkAccelerationStructureBuildRangeInfoKHR range{count, 0, 0, 0};
    const auto* ranges = &range;
    begin(commands);
    context_.vk.CmdBuildAccelerationStructuresKHR(commands, 1, &info, &ranges);
    end(commands);
    context_.submit_and_wait(commands);
    return info.dstAccelerationStructure;
  };

  VkAccelerationStructureGeometryKHR triangles{};
  triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  triangles.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  triangles.flags = VK_GEOMETRY_OPAQUE_BIT_KHR;
  auto& data = triangles.geometry.triangles;
  data.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
  data.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  data.vertexData.deviceAddress = vertices_.address;
  data.vertexStride = 3 * sizeof(float);
  data.maxVertex = 2;
  data.indexType = VK_INDEX_TYPE_NONE_KHR;
  bottom_ = make(VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, triangles, 1, bottom_memory_);

  VkAccelerationStructureInstanceKHR instance{};
  instance.transform.matrix[0][0] = instance.transform.matrix[1][1] = instance.transform.matrix[2][2] = 1;
  instance.mask = 0xFF;
  VkAccelerationStructureDeviceAddressInfoKHR address{};
  address.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR;
  address.accelerationStructure = bottom_;
  instance.accelerationStructureReference =
      context_.vk.GetAccelerationStructureDeviceAddressKHR(context_.device, &address);
  std::memcpy(instances_.data, &instance, sizeof instance);
  instance.accelerationStructureReference = 0;
  std::memcpy(static_cast<std::uint8_t*>(instances_.data) + sizeof instance, &instance, sizeof instance);
  VkAccelerationStructureGeometryKHR instances{};
  instances.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  instances.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  instances.geometry.instances.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR;
  instances.geometry.instances.data.deviceAddress = instances_.address;
  top_ = make(VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, instances, inactive ? 2 : 1, top_memory_);
  vkFreeCommandBuffers(context_.device, context_.pool, 1, &commands);
}

std::string Triangle::stack_sizes() const {
  const auto size = [&](std::uint32_t group, VkShaderGroupShaderKHR shader) {
    return std::to_string(context_.vk.GetRayTracingShaderGroupStackSizeKHR(context_.device, pipeline, group, shader));
  };
  return size(0, VK_SHADER_GROUP_SHADER_GENERAL_KHR) + " " + size(1, VK_SHADER_GROUP_SHADER_GENERAL_KHR) + " " +
         size(2, VK_SHADER_GROUP_SHADER_CLOSEST_HIT_KHR);
}

VkPipeline Triangle::make_pipeline(PipelineStyle style) {
  std::array<VkShaderModuleCreateInfo, 3> modules{};
  std::array<VkPipelineShaderStageCreateInfo, 3> stages{};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    modules.at(i) = module_info(kCode[i]);
    if (i == 0 && style == PipelineStyle::WithoutRays) {
      modules.at(i) = module_info({VK_SHADER_STAGE_RAYGEN_BIT_KHR, kNoRays, sizeof kNoRays});
    }
    if (i == 0 && style == PipelineStyle::Images) {
      modules.at(i) = module_info({VK_SHADER_STAGE_RAYGEN_BIT_KHR, kImagesGeneration, sizeof kImagesGeneration});
    }
    if (i == 0 && style == PipelineStyle::Marked) {
      modules.at(i) = module_info({VK_SHADER_STAGE_RAYGEN_BIT_KHR, kMarkedGeneration, sizeof kMarkedGeneration});
    }
    auto& stage = stages.at(i);
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.stage = kCode[i].stage;
    stage.pName = "main";
    if (style == PipelineStyle::Inline) {
      stage.pNext = &modules.at(i);
    } else {
      check(vkCreateShaderModule(context_.device, &modules.at(i), nullptr, &stage.module), "vkCreateShaderModule");
    }
  }
  const VkRayTracingShaderGroupCreateInfoKHR groups[3] = {
      group(0, VK_SHADER_UNUSED_KHR), group(1, VK_SHADER_UNUSED_KHR), group(VK_SHADER_UNUSED_KHR, 2)};
  VkRayTracingPipelineInterfaceCreateInfoKHR interface {};
  interface.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_INTERFACE_CREATE_INFO_KHR;
  interface.maxPipelineRayPayloadSize = 16;
  interface.maxPipelineRayHitAttributeSize = 8;
  VkRayTracingPipelineCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR;
  info.maxPipelineRayRecursionDepth = 1;
  info.layout = style == PipelineStyle::Gone ? make_pipeline_layout() : layout_;
  const VkDynamicState dynamic = VK_DYNAMIC_STATE_RAY_TRACING_PIPELINE_STACK_SIZE_KHR;
  VkPipelineDynamicStateCreateInfo dynamics{};
  dynamics.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
  dynamics.dynamicStateCount = 1;
  dynamics.pDynamicStates = &dynamic;
  if (style == PipelineStyle::DynamicStack) {
    info.pDynamicState = &dynamics;
  }
  VkPipeline made = VK_NULL_HANDLE;
  if (style == PipelineStyle::Library || style == PipelineStyle::Gone) {
    // Ray generation in the pipeline itself; miss and hit group each in a library.
    info.pLibraryInterface = &interface;
    for (std::uint32_t i = 1; i < 3; ++i) {
      auto library = info;
      library.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
      library.stageCount = 1;
      library.pStages = &stages.at(i);
      const auto only = i == 1 ? group(0, VK_SHADER_UNUSED_KHR) : group(VK_SHADER_UNUSED_KHR, 0);
      library.groupCount = 1;
      library.pGroups = &only;
      check(context_.vk.CreateRayTracingPipelinesKHR(context_.device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &library,
                                                     nullptr, &libraries_.emplace_back()),
            "vkCreateRayTracingPipelinesKHR (library)");
    }
    VkPipelineLibraryCreateInfoKHR linked{};
    linked.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR;
    linked.libraryCount = static_cast<std::uint32_t>(libraries_.size());
    linked.pLibraries = libraries_.data();
    info.pLibraryInfo = &linked;
    info.stageCount = info.groupCount = 1;
    info.pStages = stages.data();
    info.pGroups = groups;
    check(context_.vk.CreateRayTracingPipelinesKHR(context_.device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, nullptr,
                                                   &made),
          "vkCreateRayTracingPipelinesKHR (linked)");
    if (style == PipelineStyle::Gone) {
      for (auto* library : libraries_) {
        vkDestroyPipeline(context_.device, library, nullptr);
      }
      libraries_.clear();
      vkDestroyPipelineLayout(context_.device, info.layout, nullptr);
    }
  } else {
    info.stageCount = stages.size();
    info.pStages = stages.data();
    info.groupCount = 3;
    info.pGroups = groups;
    VkDeferredOperationKHR operation = VK_NULL_HANDLE;
    if (style == PipelineStyle::Deferred) {
      check(context_.vk.CreateDeferredOperationKHR(context_.device, nullptr, &operation),
            "vkCreateDeferredOperationKHR");
    }
    auto result =
        context_.vk.CreateRayTracingPipelinesKHR(context_.device, operation, VK_NULL_HANDLE, 1, &info, nullptr, &made);
    if (style == PipelineStyle::Deferred) {
      if (result == VK_OPERATION_DEFERRED_KHR) {
        while ((result = context_.vk.DeferredOperationJoinKHR(context_.device, operation)) == VK_THREAD_IDLE_KHR) {
        }
        result = context_.vk.GetDeferredOperationResultKHR(context_.device, operation);
      } else if (result == VK_OPERATION_NOT_DEFERRED_KHR) {
        result = VK_SUCCESS;
      }
      context_.vk.DestroyDeferredOperationKHR(context_.device, operation, nullptr);
    }
    check(result, "vkCreateRayTracingPipelinesKHR");
  }
  for (const auto& stage : stages) {
    vkDestroyShaderModule(context_.device, stage.module, nullptr);
  }
  return made;
}

void Triangle::make_table() {
  const auto size = context_.handle_bytes;
  std::vector<std::uint8_t> handles(std::size_t{3} * size);
  check(context_.vk.GetRayTracingShaderGroupHandlesKHR(context_.device, pipeline, 0, 3, handles.size(), handles.data()),
        "vkGetRayTracingShaderGroupHandlesKHR");
  table_ = context_.make_buffer(3 * kEntryBytes,
                                VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (std::size_t i = 0; i < 3; ++i) {
    std::memcpy(static_cast<std::uint8_t*>(table_.data) + i * kEntryBytes, handles.data() + i * size, size);
    regions_[i] = {table_.address + i * kEntryBytes, kEntryBytes, kEntryBytes};
  }
}

void Triangle::trace_with_table_of_device(VkCommandBuffer commands) {
  vkCmdUpdateBuffer(commands, table_.buffer, 0, 3 * kEntryBytes, table_.data);
  std::memset(table_.data, 0, 3 * kEntryBytes);
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, 0, 1,
                       &barrier, 0, nullptr, 0, nullptr);
  trace(commands, kWidth, kHeight, 0);
}

void Triangle::bind(VkCommandBuffer commands, std::uint32_t first, std::uint32_t add) {
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline);
  if (style_ != PipelineStyle::WithoutRays) {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, layout_, 0, 1, &set_, 0, nullptr);
  }
  const std::uint32_t push[2] = {first, add};
  vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_RAYGEN_BIT_KHR, 0, sizeof push, push);
  if (style_ == PipelineStyle::DynamicStack) {
    context_.vk.CmdSetRayTracingPipelineStackSizeKHR(commands, 256);
  }
}

void Triangle::trace(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height, std::uint32_t first,
                     std::uint32_t add) {
  bind(commands, first, add);
  context_.vk.CmdTraceRaysKHR(commands, &regions_[0], &regions_[1], &regions_[2], &regions_[3], width, height, 1);
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR,
                       VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                       nullptr, 0, nullptr);
}

void Triangle::trace_indirect(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height, bool with_tables) {
  bind(commands, 0, 0);
  if (with_tables) {
    VkTraceRaysIndirectCommand2KHR command{};
    command.raygenShaderRecordAddress = regions_[0].deviceAddress;
    command.raygenShaderRecordSize = regions_[0].size;
    command.missShaderBindingTableAddress = regions_[1].deviceAddress;
    command.missShaderBindingTableSize = regions_[1].size;
    command.missShaderBindingTableStride = regions_[1].stride;
    command.hitShaderBindingTableAddress = regions_[2].deviceAddress;
    command.hitShaderBindingTableSize = regions_[2].size;
    command.hitShaderBindingTableStride = regions_[2].stride;
    command.width = width;
    command.height = height;
    command.depth = 1;
    std::memcpy(static_cast<std::uint8_t*>(indirect_.data) + 256, &command, sizeof command);
    context_.vk.CmdTraceRaysIndirect2KHR(commands, indirect_.address + 256);
  } else {
    const VkTraceRaysIndirectCommandKHR command{width, height, 1};
    std::memcpy(indirect_.data, &command, sizeof command);
    context_.vk.CmdTraceRaysIndirectKHR(commands, &regions_[0], &regions_[1], &regions_[2], &regions_[3],
                                        indirect_.address);
  }
}

std::string Triangle::picture() const {
  const auto* pixels = static_cast<const std::uint32_t*>(picture_.data);
  std::uint64_t hash = 1469598103934665603ULL;
  std::uint64_t hits = 0;
  for (std::uint32_t i = 0; i < kPictureWords; ++i) {
    hash = (hash ^ pixels[i]) * 1099511628211ULL;
    hits += pixels[i] >= 1000 ? 1 : 0;
  }
  return std::to_string(hash) + " " + std::to_string(hits);
}

}  // namespace scenario
