// The instrumented variant of a pipeline that the application keeps without instrumentation.
//
// Contract: the first get() makes the variant; later calls return the same. A variant has the application's layout,
// groups and dynamic state, so it can be bound in place of the application's pipeline; only the handles of its groups
// differ, and tables are rewritten for it (table_patch.hpp). On failure a note says so, and launches run with the
// application's pipeline, which records nothing. Destroyed with the last record that refers to it, never before the
// application destroys its own pipeline.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/table_patch.hpp"

namespace rayreplay::layer {

/// Pipeline layouts that variants still need. The application may destroy a layout once its pipeline is made.
class KeptLayouts {
 public:
  explicit KeptLayouts(Device& device) : device_(device) {}

  /// Called with each record whose variant is not made yet.
  void watch(const std::shared_ptr<const PipelineRecord>& record);
  /// Called when the variant is made, or never will be.
  void release(VkPipelineLayout layout);
  /// As the application destroys it.
  void destroy(VkPipelineLayout layout, const VkAllocationCallbacks* allocator);

 private:
  struct Use {
    std::vector<std::weak_ptr<const PipelineRecord>> records;
    std::size_t count = 0;  // of variants that are not made
    bool destroyed = false;
  };
  Device& device_;
  std::mutex mutex_;
  std::unordered_map<VkPipelineLayout, Use> uses_;
};

class Variant {
 public:
  struct Made {
    std::shared_ptr<const PipelineRecord>
        record;         ///< the variant's; where there is none, of the application's pipeline
    bool own = false;   ///< there is one
    HandleMap handles;  ///< from the application's groups to the variant's
  };

  Variant(Device& device, std::shared_ptr<const PipelineRecipe> recipe, std::shared_ptr<KeptLayouts> layouts);
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;
  ~Variant();

  /// `plain`: the record of the application's pipeline. Device::event_memory must be prepared: its addresses are in the
  /// shaders. May throw for lack of memory.
  [[nodiscard]] const Made& get(const PipelineRecord& plain);

 private:
  friend class KeptLayouts;
  void make(const PipelineRecord& plain);
  /// Pipeline facts: of the application's pipeline where that can be asked, else of a plain twin.
  void record_facts(const PipelineRecord& plain, const PipelineRecord& made);
  void let_go();

  Device& device_;
  std::shared_ptr<const PipelineRecipe> recipe_;  // null once it is made
  std::shared_ptr<KeptLayouts> layouts_;
  VkPipelineLayout watched_ = VK_NULL_HANDLE;  // in layouts_
  std::mutex mutex_;
  Made made_;
  std::shared_ptr<const PlainTwin> plain_;  // of a library, for pipeline facts; null: none
};

}  // namespace rayreplay::layer
