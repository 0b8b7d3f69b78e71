// Compute and graphics pipelines whose shaders count: blocks, branches, loads, values.
//
// Contract: the create functions pass the application's call on, with counting twins in place of compute, vertex and
// fragment shaders, or with its own shaders if the device refuses the twins; what is not counted is noted. Counters lie
// in mapped memory, so no command of the application changes and none is added. They are read, and spooled as a block
// without a launch, when the application destroys the pipeline (Vulkan demands that its work is over then), or by
// finish(). So a pipeline has the counts of all its work, whatever launches are captured. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/counter_memory.hpp"

namespace rayreplay::layer {

struct Device;

class CountedPipelines {
 public:
  /// Whether vertex and fragment shaders may write memory on this device.
  CountedPipelines(Device& device, bool vertex_stores, bool fragment_stores);
  CountedPipelines(const CountedPipelines&) = delete;
  CountedPipelines& operator=(const CountedPipelines&) = delete;
  ~CountedPipelines();

  VkResult create(VkPipelineCache cache, std::uint32_t count, const VkComputePipelineCreateInfo* infos,
                  const VkAllocationCallbacks* allocator, VkPipeline* pipelines);
  VkResult create(VkPipelineCache cache, std::uint32_t count, const VkGraphicsPipelineCreateInfo* infos,
                  const VkAllocationCallbacks* allocator, VkPipeline* pipelines);
  /// Before the pipeline is destroyed. Pipelines of other kinds are ignored.
  void destroyed(VkPipeline pipeline);
  /// All that are left, before the device is destroyed.
  void finish();

 private:
  struct Counted {
    std::uint32_t number = 0;  ///< as in the spool
    std::vector<std::shared_ptr<const ModuleCounters>> counters;
    std::vector<std::uint16_t> shaders;
  };
  class Rewrite;
  /// Calls `next`, the driver's create function, with rewrites of `infos`.
  template <typename Info>
  VkResult create_with(std::uint32_t count, const Info* infos, const VkAllocationCallbacks* allocator,
                       VkPipeline* pipelines, const auto& next);
  [[nodiscard]] bool can_count(VkShaderStageFlagBits stage) const;
  void add(VkPipeline pipeline, Counted counted);
  void spool(const Counted& counted) const;

  Device& device_;
  bool vertex_stores_, fragment_stores_;
  std::mutex mutex_;
  std::unordered_map<VkPipeline, Counted> pipelines_;
};

}  // namespace rayreplay::layer
