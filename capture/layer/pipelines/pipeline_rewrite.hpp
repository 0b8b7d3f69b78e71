// One create info with instrumented stages.
//
// Contract: `info()` describes the original pipeline with instrumented shaders where possible, and points into this
// object and into the original's data. `record()` describes the result. Shader modules made for it are destroyed with
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/device/device.hpp"
#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/pipelines/pipelines.hpp"

namespace rayreplay::layer {

class PipelineRewrite {
 public:
  /// `libraries`: the libraries to link the pipeline from, in the original's order.
  PipelineRewrite(Device& device, const VkRayTracingPipelineCreateInfoKHR& original,
                  const std::vector<StageSource>& sources, const LibraryRecords& libraries);
  PipelineRewrite(const PipelineRewrite&) = delete;
  PipelineRewrite& operator=(const PipelineRewrite&) = delete;
  ~PipelineRewrite();

  [[nodiscard]] const VkRayTracingPipelineCreateInfoKHR& info() const {
    return info_;
  }
  /// False: the device refused a module of the application's own; no pipeline can be created.
  [[nodiscard]] bool complete() const {
    return complete_;
  }
  [[nodiscard]] const std::shared_ptr<PipelineRecord>& record() const {
    return record_;
  }

 private:
  /// False: the shader stays unchanged, although it needs a change.
  bool rewrite_stage(std::size_t index, const StageSource& source);
  bool use(VkPipelineShaderStageCreateInfo& stage, const std::shared_ptr<const instrument::Result>& twin);
  /// For an unchanged stage. Stages of a recipe have no module, so one is created from the application's words.
  void use_given(VkPipelineShaderStageCreateInfo& stage, const StageSource& source);
  void add_probes();
  void link(const VkPipelineLibraryCreateInfoKHR& original, const LibraryRecords& libraries);
  void describe(const VkRayTracingPipelineCreateInfoKHR& original, const LibraryRecords& libraries);
  /// The module with counters of this pipeline; null, noted, without memory for them.
  [[nodiscard]] VkShaderModule make_counting_module(const std::shared_ptr<const instrument::Result>& twin);
  [[nodiscard]] VkShaderModule make_module(const Words& words);

  Device& device_;
  VkRayTracingPipelineCreateInfoKHR info_;
  std::shared_ptr<PipelineRecord> record_;
  std::vector<VkPipelineShaderStageCreateInfo> stages_;
  std::vector<VkRayTracingShaderGroupCreateInfoKHR> groups_;
  std::vector<std::uint16_t> ids_;  // of each stage
  bool complete_ = true;
  bool any_hits_ = false;  // the application has any-hit shaders, here or in pipelines that this one may be linked with
  std::map<std::shared_ptr<const instrument::Result>, VkShaderModule> modules_;
  std::map<const Words*, VkShaderModule> given_modules_;
  StructCopies copies_;
  VkPipelineLibraryCreateInfoKHR linked_{};
  std::vector<VkPipeline> linked_handles_;
};

}  // namespace rayreplay::layer
