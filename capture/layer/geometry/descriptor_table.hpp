// The acceleration structures in descriptor sets, and the images if they are wanted.
//
// Contract: follows descriptor writes, copies, update templates and push descriptors; bindings overflow into the next
// one (Vulkan, "Descriptor Set Updates", consecutive binding updates). Images are those of storage images, sampled
// images and combined image samplers; a sampler in a layout (immutable) goes before a written one. Only sets whose
// layout can hold what is wanted are kept; other writes cost one comparison. Not thread-safe: its owner locks.
// Complexity: O(log n) for each descriptor written.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/layer/geometry/image_table.hpp"

namespace rayreplay::layer::geometry {

/// The bindings of a descriptor set layout.
struct SetLayout {
  struct Binding {
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_SAMPLER;
    std::uint32_t count = 0;
    std::vector<spool::ImageFilter> immutable{};  ///< of the samplers that the layout has for it; empty: none
  };
  std::map<std::uint32_t, Binding> bindings;
  bool followed = false;  ///< a binding may hold what is wanted
};
using SetLayoutPointer = std::shared_ptr<const SetLayout>;

/// Content of a descriptor: a structure, or an image.
struct Descriptor {
  VkAccelerationStructureKHR structure = VK_NULL_HANDLE;
  ImageViewPointer view{};
  spool::ImageFilter filter = spool::ImageFilter::None;  ///< of an image's sampler

  bool operator==(const Descriptor&) const = default;
};

/// (binding, array element) → descriptor.
using SetContents = std::map<std::pair<std::uint32_t, std::uint32_t>, Descriptor>;

class DescriptorTable {
 public:
  /// `images`: where views and samplers are looked up; null: images are not wanted.
  explicit DescriptorTable(const ImageTable* images = nullptr) : images_(images) {}

  /// Whether a write, or what it pushes, may concern the table. Needs no lock.
  [[nodiscard]] bool concerns(const VkWriteDescriptorSet& write) const;
  [[nodiscard]] bool follows_images() const {
    return images_ != nullptr;
  }

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
  /// Whether the template pushes what is wanted, for ray tracing.
  [[nodiscard]] bool pushes(VkDescriptorUpdateTemplate handle) const;
  void write_template(VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void* data);

  /// Push descriptors into `to`, the state of set number `set` in a command buffer.
  void push(SetContents& to, VkPipelineLayout layout, std::uint32_t set, const VkWriteDescriptorSet& write) const;
  void push_template(SetContents& to, VkPipelineLayout layout, std::uint32_t set, VkDescriptorUpdateTemplate handle,
                     const void* data) const;

  /// Null if the set is unknown or its layout holds nothing that is wanted.
  [[nodiscard]] const SetContents* get(VkDescriptorSet set) const;

 private:
  struct Set {
    SetLayoutPointer layout;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    SetContents contents;
  };

  struct Template {
    VkPipelineBindPoint bind_point = VK_PIPELINE_BIND_POINT_GRAPHICS;
    std::vector<VkDescriptorUpdateTemplateEntry> entries;  ///< of what is wanted
  };

  [[nodiscard]] bool wants(VkDescriptorType type) const;
  /// The same of a binding's type.
  [[nodiscard]] bool may_hold(VkDescriptorType type) const;
  [[nodiscard]] SetLayoutPointer layout_of(VkPipelineLayout layout, std::uint32_t set) const;
  /// `count` descriptors of a wanted type, at `data` as an update template has them.
  void put(SetContents& to, const SetLayout* layout, std::uint32_t binding, std::uint32_t element, std::uint32_t count,
           VkDescriptorType type, const std::uint8_t* data, std::size_t stride) const;
  void put(SetContents& to, const SetLayout* layout, const VkWriteDescriptorSet& write) const;
  void put_template(SetContents& to, const SetLayout* layout, const Template& entries, const void* data) const;

  const ImageTable* images_;
  std::unordered_map<VkDescriptorSetLayout, SetLayoutPointer> layouts_;
  std::unordered_map<VkPipelineLayout, std::vector<SetLayoutPointer>> pipeline_layouts_;
  std::unordered_map<VkDescriptorSet, Set> sets_;
  std::unordered_map<VkDescriptorPool, std::unordered_set<VkDescriptorSet>> pools_;
  std::unordered_map<VkDescriptorUpdateTemplate, Template> templates_;  ///< those that write what is wanted
};

/// The structures of a write; null if it writes other things.
[[nodiscard]] const VkWriteDescriptorSetAccelerationStructureKHR* structures_of(const VkWriteDescriptorSet& write);

/// The descriptor sets bound for ray tracing at a point of a command buffer.
struct BoundSets {
  struct Slot {
    VkDescriptorSet set = VK_NULL_HANDLE;
    bool unknown = false;  ///< descriptor buffers
    SetContents pushed;    ///< push descriptors; then `set` is null
  };
  std::map<std::uint32_t, Slot> slots;
};

}  // namespace rayreplay::layer::geometry
