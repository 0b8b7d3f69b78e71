// Ray-tracing pipelines: instrumented stages, group handles, stack sizes.
//
// Contract: create() does what vkCreateRayTracingPipelinesKHR does, with instrumented stages where that is possible; if
// the device refuses those, with the application's own. A deferred operation is not used: the call then returns
// VK_OPERATION_NOT_DEFERRED_KHR, as a driver may, so that nothing of the application's must outlive it. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/instrument/instrument.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::layer {

struct Device;

/// A pipeline as the layer knows it; immutable once its creation has completed.
struct PipelineRecord {
  std::uint32_t number = spool::kNone;  ///< as in the spool; kNone for libraries
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::vector<spool::Group> groups;            ///< handles included, unless it is a library
  std::vector<VkShaderStageFlagBits> general;  ///< of each group: stage of its general shader, 0 if it has none
  std::vector<instrument::TraceSite> sites;    ///< of all its shaders
  bool instrumented = false;
  bool any_hits = false;           ///< any-hit shaders of the application: what is opaque is told apart at run time
  bool observes_all = true;        ///< observe_all: no shader was left as it is
  bool any_hits_as_given = false;  ///< an any-hit shader of the application was, so rays must keep their flags
  bool may_trace = false;          ///< a shader has a trace call, or is not known
  bool dynamic_stack = false;
  std::uint32_t needed_stack = 0;  ///< dynamic_stack: the specification's default for this (instrumented) pipeline
};

class Pipelines {
 public:
  explicit Pipelines(Device& device) : device_(device) {}

  VkResult create(VkDeferredOperationKHR deferred, VkPipelineCache cache, std::uint32_t count,
                  const VkRayTracingPipelineCreateInfoKHR* infos, const VkAllocationCallbacks* allocator,
                  VkPipeline* pipelines);
  void destroyed(VkPipeline pipeline);
  /// Null if it is no ray-tracing pipeline, or unknown.
  [[nodiscard]] std::shared_ptr<const PipelineRecord> find(VkPipeline pipeline);

 private:
  void register_pipeline(VkPipeline pipeline, const VkRayTracingPipelineCreateInfoKHR& info,
                         std::shared_ptr<PipelineRecord> record);

  Device& device_;
  std::mutex mutex_;
  std::unordered_map<VkPipeline, std::shared_ptr<const PipelineRecord>> pipelines_;
};

}  // namespace rayreplay::layer
