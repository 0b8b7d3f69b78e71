// A ray-tracing pipeline and its shader binding table.
//
// Contract: a PipelineBuilder collects shaders and groups; groups are numbered in the order they are added.
// RayTracingPipeline makes the pipeline with one descriptor set and kPushConstantBytes of push constants.
// ShaderBindingTable lays out records: a group's handle and, behind it, the application's data for that record. Errors:
// those of result.hpp; Resource if a record is longer than the device takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/descriptors.hpp"
#include "capture/apps/framework/device.hpp"

namespace rayreplay::apps {

inline constexpr std::uint32_t kPushConstantBytes = 16;
inline constexpr std::uint32_t kNoStage = VK_SHADER_UNUSED_KHR;

class PipelineBuilder {
 public:
  /// SPIR-V with entry point "main", which must outlive the builder, and its 32-bit specialisation constants, ids from
  /// 0 on; returns the stage's number.
  std::uint32_t add_stage(VkShaderStageFlagBits stage, std::span<const std::uint32_t> spirv,
                          std::vector<std::uint32_t> constants = {});
  /// Ray generation, miss or callable; returns the group's number.
  std::uint32_t add_general_group(std::uint32_t stage);
  /// Any stage may be kNoStage; procedural when there is an intersection shader.
  std::uint32_t add_hit_group(std::uint32_t closest_hit, std::uint32_t any_hit, std::uint32_t intersection);

  std::uint32_t recursion = 1;  ///< nested trace calls

 private:
  friend class RayTracingPipeline;
  struct Stage {
    VkShaderStageFlagBits stage;
    std::span<const std::uint32_t> spirv;
    std::vector<std::uint32_t> constants;
  };
  std::vector<Stage> stages_;
  std::vector<VkRayTracingShaderGroupCreateInfoKHR> groups_;
};

class RayTracingPipeline {
 public:
  RayTracingPipeline(const Device& device, const PipelineBuilder& builder, const DescriptorSet& descriptors);
  ~RayTracingPipeline();
  RayTracingPipeline(const RayTracingPipeline&) = delete;
  RayTracingPipeline& operator=(const RayTracingPipeline&) = delete;

  [[nodiscard]] VkPipelineLayout layout() const {
    return layout_;
  }
  [[nodiscard]] VkPipeline handle() const {
    return pipeline_;
  }
  /// The handles of all groups, one behind the other.
  [[nodiscard]] const std::vector<std::byte>& group_handles() const {
    return handles_;
  }

 private:
  void create(const PipelineBuilder& builder, const DescriptorSet& descriptors);
  void create_pipeline(const PipelineBuilder& builder, std::vector<VkShaderModule>& modules);
  void release() noexcept;

  const Device* device_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::vector<std::byte> handles_;
};

struct ShaderRecord {
  std::uint32_t group = 0;
  std::vector<std::byte> data;
};

class ShaderBindingTable {
 public:
  ShaderBindingTable(const Device& device, const RayTracingPipeline& pipeline, const ShaderRecord& ray_generation,
                     const std::vector<ShaderRecord>& miss, const std::vector<ShaderRecord>& hit);

  void trace(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height) const;

 private:
  enum Region : std::size_t { kRayGeneration, kMiss, kHit, kRegions };

  const Device* device_;
  Buffer buffer_;
  std::array<VkStridedDeviceAddressRegionKHR, kRegions> regions_{};
};

}  // namespace rayreplay::apps
