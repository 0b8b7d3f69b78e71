#include "capture/apps/framework/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

VkRayTracingShaderGroupCreateInfoKHR unused_group(VkRayTracingShaderGroupTypeKHR type) {
  VkRayTracingShaderGroupCreateInfoKHR group{};
  group.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR;
  group.type = type;
  group.generalShader = kNoStage;
  group.closestHitShader = kNoStage;
  group.anyHitShader = kNoStage;
  group.intersectionShader = kNoStage;
  return group;
}

VkShaderModule make_module(const Device& device, std::span<const std::uint32_t> spirv) {
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = spirv.size_bytes();
  info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  require_success(vkCreateShaderModule(device.handle(), &info, nullptr, &module), "vkCreateShaderModule");
  return module;
}

/// One stage's constants as Vulkan wants them; points into `constants`, which must outlive it.
struct Specialization {
  explicit Specialization(const std::vector<std::uint32_t>& constants) {
    for (std::uint32_t id = 0; id < constants.size(); ++id) {
      entries.push_back({id, id * 4, sizeof(std::uint32_t)});
    }
    info = {static_cast<std::uint32_t>(entries.size()), entries.data(), constants.size() * sizeof(std::uint32_t),
            constants.data()};
  }

  std::vector<VkSpecializationMapEntry> entries;
  VkSpecializationInfo info{};
};

}  // namespace

std::uint32_t PipelineBuilder::add_stage(VkShaderStageFlagBits stage, std::span<const std::uint32_t> spirv,
                                         std::vector<std::uint32_t> constants) {
  stages_.push_back({stage, spirv, std::move(constants)});
  return static_cast<std::uint32_t>(stages_.size() - 1);
}

std::uint32_t PipelineBuilder::add_general_group(std::uint32_t stage) {
  groups_.push_back(unused_group(VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR));
  groups_.back().generalShader = stage;
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

std::uint32_t PipelineBuilder::add_hit_group(std::uint32_t closest_hit, std::uint32_t any_hit,
                                             std::uint32_t intersection) {
  groups_.push_back(unused_group(intersection == kNoStage ? VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR
                                                          : VK_RAY_TRACING_SHADER_GROUP_TYPE_PROCEDURAL_HIT_GROUP_KHR));
  groups_.back().closestHitShader = closest_hit;
  groups_.back().anyHitShader = any_hit;
  groups_.back().intersectionShader = intersection;
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

RayTracingPipeline::RayTracingPipeline(const Device& device, const PipelineBuilder& builder,
                                       const DescriptorSet& descriptors)
    : device_(&device) {
  try {
    create(builder, descriptors);
  } catch (...) {
    release();
    throw;
  }
}

RayTracingPipeline::~RayTracingPipeline() {
  release();
}

void RayTracingPipeline::create(const PipelineBuilder& builder, const DescriptorSet& descriptors) {
  VkDescriptorSetLayout set_layout = descriptors.layout();
  const VkPushConstantRange constants{kRayTracingStages, 0, kPushConstantBytes};
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &constants;
  require_success(vkCreatePipelineLayout(device_->handle(), &layout, nullptr, &layout_), "vkCreatePipelineLayout");

  std::vector<VkShaderModule> modules;
  const auto destroy_modules = [&] {
    for (VkShaderModule module : modules) {
      vkDestroyShaderModule(device_->handle(), module, nullptr);
    }
  };
  try {
    create_pipeline(builder, modules);
  } catch (...) {
    destroy_modules();
    throw;
  }
  destroy_modules();

  handles_.resize(builder.groups_.size() * device_->limits().handle_size);
  require_success(device_->functions().group_handles(device_->handle(), pipeline_, 0,
                                                     static_cast<std::uint32_t>(builder.groups_.size()),
                                                     handles_.size(), handles_.data()),
                  "vkGetRayTracingShaderGroupHandlesKHR");
}

void RayTracingPipeline::create_pipeline(const PipelineBuilder& builder, std::vector<VkShaderModule>& modules) {
  std::vector<Specialization> specializations;
  for (const PipelineBuilder::Stage& stage : builder.stages_) {
    specializations.emplace_back(stage.constants);
  }
  std::vector<VkPipelineShaderStageCreateInfo> stages;
  for (std::size_t i = 0; i < builder.stages_.size(); ++i) {
    modules.push_back(make_module(*device_, builder.stages_[i].spirv));
    VkPipelineShaderStageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage = builder.stages_[i].stage;
    info.module = modules.back();
    info.pName = "main";
    info.pSpecializationInfo = specializations[i].info.mapEntryCount == 0 ? nullptr : &specializations[i].info;
    stages.push_back(info);
  }
  VkRayTracingPipelineCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR;
  info.stageCount = static_cast<std::uint32_t>(stages.size());
  info.pStages = stages.data();
  info.groupCount = static_cast<std::uint32_t>(builder.groups_.size());
  info.pGroups = builder.groups_.data();
  info.maxPipelineRayRecursionDepth = builder.recursion;
  info.layout = layout_;
  require_success(device_->functions().create_pipelines(device_->handle(), VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info,
                                                        nullptr, &pipeline_),
                  "vkCreateRayTracingPipelinesKHR");
}

void RayTracingPipeline::release() noexcept {
  vkDestroyPipeline(device_->handle(), pipeline_, nullptr);
  vkDestroyPipelineLayout(device_->handle(), layout_, nullptr);
}

ShaderBindingTable::ShaderBindingTable(const Device& device, const RayTracingPipeline& pipeline,
                                       const ShaderRecord& ray_generation, const std::vector<ShaderRecord>& miss,
                                       const std::vector<ShaderRecord>& hit)
    : device_(&device) {
  const DeviceLimits& limits = device.limits();
  const std::array<std::span<const ShaderRecord>, kRegions> records{std::span(&ray_generation, 1), std::span(miss),
                                                                    std::span(hit)};
  std::vector<std::byte> bytes;
  std::array<VkDeviceSize, kRegions> offsets{};
  for (std::size_t region = 0; region < kRegions; ++region) {
    std::size_t data_bytes = 0;
    for (const ShaderRecord& record : records.at(region)) {
      data_bytes = std::max(data_bytes, record.data.size());
    }
    // A ray-generation region is one record: its stride must be its size.
    const VkDeviceSize stride = align(limits.handle_size + data_bytes,
                                      region == kRayGeneration ? limits.base_alignment : limits.handle_alignment);
    if (stride > limits.max_record_stride) {
      throw Error(ErrorKind::Resource, {"a shader record is longer than the device takes", "", std::to_string(stride),
                                        "at most " + std::to_string(limits.max_record_stride) + " bytes", ""});
    }
    offsets.at(region) = align(bytes.size(), limits.base_alignment);
    regions_.at(region) = {0, stride, stride * records.at(region).size()};
    bytes.resize(offsets.at(region) + regions_.at(region).size);
    std::byte* at = bytes.data() + offsets.at(region);
    for (const ShaderRecord& record : records.at(region)) {
      std::memcpy(at, &pipeline.group_handles().at(std::size_t{record.group} * limits.handle_size), limits.handle_size);
      if (!record.data.empty()) {
        std::memcpy(at + limits.handle_size, record.data.data(), record.data.size());
      }
      at += stride;
    }
  }
  buffer_ = upload(device, bytes, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR);
  if (buffer_.address() % limits.base_alignment != 0) {
    throw Error(ErrorKind::Internal, {"a buffer is less aligned than shader binding tables must be", "", "", "", ""});
  }
  for (std::size_t region = 0; region < kRegions; ++region) {
    regions_.at(region).deviceAddress = buffer_.address() + offsets.at(region);
  }
}

void ShaderBindingTable::trace(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height) const {
  const VkStridedDeviceAddressRegionKHR callable{};
  device_->functions().cmd_trace_rays(commands, &regions_[kRayGeneration], &regions_[kMiss], &regions_[kHit], &callable,
                                      width, height, 1);
}

}  // namespace rayreplay::apps
