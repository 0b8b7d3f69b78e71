// The driver's facts of a pipeline with the application's own shaders: stack sizes, and statistics of executables.
//
// Contract: instrumented shaders have more registers and stack than the application's, so the facts come from a
// pipeline without instrumentation: the application's own, or a plain twin. Nothing here changes what the application
// sees; failures are noted. A twin lives as long as its object, and never beyond its device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/device/device.hpp"
#include "capture/layer/pipelines/pipeline_recipe.hpp"

namespace rayreplay::layer {

inline constexpr const char* kNoTwin =
    "pipeline facts: a pipeline could not be made again without instrumentation: nothing is known of it";

/// The pipeline of a recipe, with the application's shaders, and with statistics where the device has them.
class PlainTwin {
 public:
  /// `libraries`: twins of the libraries to link from. Null if one of them is, or if the device refuses the pipeline.
  [[nodiscard]] static std::shared_ptr<const PlainTwin> make(
      Device& device, const PipelineRecipe& recipe, const std::vector<std::shared_ptr<const PlainTwin>>& libraries);
  PlainTwin(Device& device, VkPipeline pipeline) : device_(device), pipeline_(pipeline) {}
  PlainTwin(const PlainTwin&) = delete;
  PlainTwin& operator=(const PlainTwin&) = delete;
  ~PlainTwin();

  [[nodiscard]] VkPipeline handle() const {
    return pipeline_;
  }

 private:
  Device& device_;
  VkPipeline pipeline_;
};

/// Writes the facts of `plain`, a pipeline without instrumentation and with the groups of `record`. Statistics are read
/// if Device::statistics is set: `plain` must then have been made for them.
void spool_facts(Device& device, VkPipeline plain, const PipelineRecord& record, std::uint32_t recursion_depth);

}  // namespace rayreplay::layer
