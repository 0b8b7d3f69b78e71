// The acceleration structures in descriptor sets.
//
// Contract: follows descriptor writes (VkWriteDescriptorSetAccelerationStructureKHR), copies, update templates and push
// descriptors; bindings overflow into the next one (Vulkan, "Descriptor Set Updates", consecutive binding updates).
// Only sets whose layout can hold a structure are kept; other writes cost one comparison. Not thread-safe: its owner
// locks. Complexity: O(log n) for each structure written.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rayreplay::layer::geometry {

/// The bindings of a descriptor set layout.
struct SetLayout {
  struct Binding {
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_SAMPLER;
    std::uint32_t count = 0;
  };
  std::map<std::uint32_t, Binding> bindings;
  bool structures = false;  ///< a binding may hold acceleration structures
};
using SetLayoutPointer = std::shared_ptr<const SetLayout>;

/// (binding, array element) → structure.
using SetStructures = std::map<std::pair<std::uint32_t, std::uint32_t>, VkAccelerationStructureKHR>;

class DescriptorTable {
 public:
  void add_layout(VkDescriptorSetLayout layout, const VkDescriptorSetLayoutCreateInfo& info);
  void remove_layout(VkDescriptorSetLayout layout);
  void add_pipeline_layout(VkPipelineLayout layout, const VkPipelineLayoutCreateInfo& info);
  void remove_pipeline_layout(VkPipelineLayout layout);

  void add_set(VkDescriptorSet set, VkDescriptorPool pool, VkDescriptorSetLayout layout);
  void remove_set(VkDescriptorSet set);
  void remove_pool(VkDescriptorPool pool);  ///< destroyed or reset: its sets are gone
  void forget_sets() noexcept;              ///< the content of every set is unknown until it is written again

  void write(const VkWriteDescriptorSet& write);
  void copy(const VkCopyDescriptorSet& copy);

  void add_template(VkDescriptorUpdateTemplate handle, const VkDescriptorUpdateTemplateCreateInfo& info);
  void remove_template(VkDescriptorUpdateTemplate handle);
  /// Whether the template pushes acceleration structures for ray tracing.
  [[nodiscard]] bool pushes_structures(VkDescriptorUpdateTemplate handle) const;
  void write_template(VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void* data);

  /// Push descriptors into `to`, the state of set number `set` in a command buffer.
  void push(SetStructures& to, VkPipelineLayout layout, std::uint32_t set, const VkWriteDescriptorSet& write) const;
  void push_template(SetStructures& to, VkPipelineLayout layout, std::uint32_t set, VkDescriptorUpdateTemplate handle,
                     const void* data) const;

  /// Null if the set is unknown or its layout holds no structures.
  [[nodiscard]] const SetStructures* get(VkDescriptorSet set) const;

 private:
  struct Set {
    SetLayoutPointer layout;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    SetStructures structures;
  };

  struct Template {
    VkPipelineBindPoint bind_point = VK_PIPELINE_BIND_POINT_GRAPHICS;
    std::vector<VkDescriptorUpdateTemplateEntry> entries;  ///< of structures
  };

  [[nodiscard]] SetLayoutPointer layout_of(VkPipelineLayout layout, std::uint32_t set) const;

  std::unordered_map<VkDescriptorSetLayout, SetLayoutPointer> layouts_;
  std::unordered_map<VkPipelineLayout, std::vector<SetLayoutPointer>> pipeline_layouts_;
  std::unordered_map<VkDescriptorSet, Set> sets_;
  std::unordered_map<VkDescriptorPool, std::unordered_set<VkDescriptorSet>> pools_;
  std::unordered_map<VkDescriptorUpdateTemplate, Template> templates_;  ///< those that write structures
};

/// The structures of a write; null if it writes other things.
[[nodiscard]] const VkWriteDescriptorSetAccelerationStructureKHR* structures_of(const VkWriteDescriptorSet& write);

/// The descriptor sets bound for ray tracing at a point of a command buffer.
struct BoundSets {
  struct Slot {
    VkDescriptorSet set = VK_NULL_HANDLE;
    bool unknown = false;  ///< descriptor buffers
    SetStructures pushed;  ///< push descriptors; then `set` is null
  };
  std::map<std::uint32_t, Slot> slots;
};

}  // namespace rayreplay::layer::geometry
