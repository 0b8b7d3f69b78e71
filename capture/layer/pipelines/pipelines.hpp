// Ray-tracing pipelines: instrumented stages, group handles, stack sizes.
//
// Contract: create() implements vkCreateRayTracingPipelinesKHR. Where every launch is recorded (Device::lazy is false)
// the pipeline gets instrumented stages where possible, or the application's own if the device refuses those. Elsewhere
// the application gets its own pipeline, with a Variant that makes the instrumented one when a launch needs it; a
// pipeline whose create info cannot be kept is instrumented at once. Deferred operations are not used: the call returns
// VK_OPERATION_NOT_DEFERRED_KHR, as a driver may, so that the application's data need not outlive it. Thread-safe.
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
class KeptLayouts;
class ModuleCounters;
class PlainTwin;
class Variant;
struct PipelineRecord;

/// Records of libraries; null for those that the layer does not know.
using LibraryRecords = std::vector<std::shared_ptr<const PipelineRecord>>;

/// A pipeline as the layer knows it; immutable once its creation has completed.
struct PipelineRecord {
  std::uint32_t number = spool::kNone;  ///< as in the spool; kNone for libraries
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::vector<spool::Group> groups;            ///< handles included, unless it is a library
  std::vector<VkShaderStageFlagBits> general;  ///< of each group: stage of its general shader, 0 if it has none
  std::vector<instrument::TraceSite> sites;    ///< of all its shaders
  std::vector<std::shared_ptr<const ModuleCounters>> counters;  ///< of its modules and those of its libraries
  bool instrumented = false;
  bool any_hits = false;           ///< any-hit shaders of the application: what is opaque is told apart at run time
  bool observes_all = true;        ///< observe_all: no shader was left as it is
  bool any_hits_as_given = false;  ///< an any-hit shader of the application was, so rays must keep their flags
  bool may_trace = false;          ///< a shader has a trace call, or is not known
  bool dynamic_stack = false;
  std::shared_ptr<const PlainTwin> plain;  ///< of an instrumented library, for pipeline facts; null: none
  std::uint32_t needed_stack = 0;    ///< dynamic_stack: the specification's default for this (instrumented) pipeline
  std::shared_ptr<Variant> variant;  ///< null: the pipeline itself is recorded
  // Of pipelines with variants.
  std::uint32_t group_count = 0;  ///< with those of the libraries that it is linked from
  /// group_handles() of a linked pipeline, read when it was made: a driver crashed when asked after its libraries had
  /// been destroyed. Empty for others.
  std::vector<std::uint8_t> early_handles;
};

/// The handles of the first `groups` groups, one behind the other; empty if the device does not give them.
[[nodiscard]] std::vector<std::uint8_t> group_handles(Device& device, VkPipeline pipeline, std::size_t groups);

/// The spool's block of a pipeline that is not a library, its number, and the stack that it needs. `handles`: of its
/// groups, as the application has them.
void describe_pipeline(Device& device, PipelineRecord& record, const std::vector<std::uint8_t>& handles,
                       std::uint32_t recursion_depth);

/// vkDestroyPipelineLayout, delayed while a pipeline needs the layout.
void drop_pipeline_layout(Device& device, VkPipelineLayout layout, const VkAllocationCallbacks* allocator);

class Pipelines {
 public:
  explicit Pipelines(Device& device);
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  VkResult create(VkDeferredOperationKHR deferred, VkPipelineCache cache, std::uint32_t count,
                  const VkRayTracingPipelineCreateInfoKHR* infos, const VkAllocationCallbacks* allocator,
                  VkPipeline* pipelines);
  void destroyed(VkPipeline pipeline);
  /// Null if it is no ray-tracing pipeline, or unknown.
  [[nodiscard]] std::shared_ptr<const PipelineRecord> find(VkPipeline pipeline);
  void destroy_layout(VkPipelineLayout layout, const VkAllocationCallbacks* allocator);

 private:
  /// Empty if one of the pipelines must be instrumented at once.
  std::vector<std::shared_ptr<PipelineRecord>> plain_records(std::uint32_t count,
                                                             const VkRayTracingPipelineCreateInfoKHR* infos);
  VkResult create_instrumented(VkPipelineCache cache, std::uint32_t count,
                               const VkRayTracingPipelineCreateInfoKHR* infos, const VkAllocationCallbacks* allocator,
                               VkPipeline* pipelines);
  /// The libraries that a pipeline is linked from; `ready`: in the form for an instrumented pipeline.
  LibraryRecords libraries_of(const VkRayTracingPipelineCreateInfoKHR& info, bool ready);
  /// Pipeline facts of an instrumented pipeline; of a library its plain twin, for those that are linked from it.
  void record_facts(const VkRayTracingPipelineCreateInfoKHR& info, PipelineRecord& record);
  void add(VkPipeline pipeline, std::shared_ptr<PipelineRecord> record);

  Device& device_;
  std::shared_ptr<KeptLayouts> layouts_;
  std::mutex mutex_;
  std::unordered_map<VkPipeline, std::shared_ptr<const PipelineRecord>> pipelines_;
};

}  // namespace rayreplay::layer
