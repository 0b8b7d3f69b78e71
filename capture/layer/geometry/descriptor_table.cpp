#include "capture/layer/geometry/descriptor_table.hpp"

#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

bool may_hold_structures(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR || type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
}

/// Walks the descriptors of consecutive bindings.
class Cursor {
 public:
  Cursor(const SetLayout* layout, std::uint32_t binding, std::uint32_t element)
      : layout_(layout), binding_(binding), element_(element) {
    settle();
  }
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> at() const {
    return {binding_, element_};
  }
  /// False beyond the last binding.
  [[nodiscard]] bool valid() const {
    return valid_;
  }
  void advance() {
    ++element_;
    settle();
  }

 private:
  void settle() {
    if (layout_ == nullptr) {
      return;  // unknown: taken as large enough for all
    }
    auto found = layout_->bindings.find(binding_);
    while (found != layout_->bindings.end() && element_ >= found->second.count) {
      element_ -= found->second.count;
      ++found;
    }
    valid_ = found != layout_->bindings.end();
    if (valid_) {
      binding_ = found->first;
    }
  }

  const SetLayout* layout_;
  std::uint32_t binding_, element_;
  bool valid_ = true;
};

void put(SetStructures& to, const SetLayout* layout, std::uint32_t binding, std::uint32_t element, std::uint32_t count,
         const std::uint8_t* structures, std::size_t stride) {
  Cursor cursor(layout, binding, element);
  for (std::uint32_t i = 0; i < count && cursor.valid(); ++i, cursor.advance()) {
    VkAccelerationStructureKHR structure = VK_NULL_HANDLE;
    std::memcpy(&structure, structures + i * stride, sizeof structure);
    to[cursor.at()] = structure;
  }
}

void put(SetStructures& to, const SetLayout* layout, const VkWriteDescriptorSet& write) {
  const auto* structures = structures_of(write);
  if (structures != nullptr && structures->pAccelerationStructures != nullptr) {
    put(to, layout, write.dstBinding, write.dstArrayElement, structures->accelerationStructureCount,
        reinterpret_cast<const std::uint8_t*>(structures->pAccelerationStructures), sizeof(VkAccelerationStructureKHR));
  }
}

}  // namespace

const VkWriteDescriptorSetAccelerationStructureKHR* structures_of(const VkWriteDescriptorSet& write) {
  if (write.descriptorType != VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR) {
    return nullptr;
  }
  for (const auto* at = static_cast<const VkBaseInStructure*>(write.pNext); at != nullptr; at = at->pNext) {
    if (at->sType == VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR) {
      return reinterpret_cast<const VkWriteDescriptorSetAccelerationStructureKHR*>(at);
    }
  }
  return nullptr;
}

void DescriptorTable::add_layout(VkDescriptorSetLayout layout, const VkDescriptorSetLayoutCreateInfo& info) {
  auto made = std::make_shared<SetLayout>();
  for (std::uint32_t i = 0; i < info.bindingCount && info.pBindings != nullptr; ++i) {
    const VkDescriptorSetLayoutBinding& binding = info.pBindings[i];
    made->bindings[binding.binding] = {binding.descriptorType, binding.descriptorCount};
    made->structures = made->structures || may_hold_structures(binding.descriptorType);
  }
  layouts_[layout] = std::move(made);
}

void DescriptorTable::remove_layout(VkDescriptorSetLayout layout) {
  layouts_.erase(layout);
}

void DescriptorTable::add_pipeline_layout(VkPipelineLayout layout, const VkPipelineLayoutCreateInfo& info) {
  std::vector<SetLayoutPointer> sets;
  for (std::uint32_t i = 0; i < info.setLayoutCount && info.pSetLayouts != nullptr; ++i) {
    const auto found = layouts_.find(info.pSetLayouts[i]);
    sets.push_back(found == layouts_.end() ? nullptr : found->second);
  }
  pipeline_layouts_[layout] = std::move(sets);
}

void DescriptorTable::remove_pipeline_layout(VkPipelineLayout layout) {
  pipeline_layouts_.erase(layout);
}

SetLayoutPointer DescriptorTable::layout_of(VkPipelineLayout layout, std::uint32_t set) const {
  const auto found = pipeline_layouts_.find(layout);
  return found == pipeline_layouts_.end() || set >= found->second.size() ? nullptr : found->second[set];
}

void DescriptorTable::add_set(VkDescriptorSet set, VkDescriptorPool pool, VkDescriptorSetLayout layout) {
  remove_set(set);
  const auto found = layouts_.find(layout);
  if (found != layouts_.end() && found->second->structures) {
    sets_[set] = Set{found->second, pool, {}};
    pools_[pool].insert(set);
  }
}

void DescriptorTable::remove_set(VkDescriptorSet set) {
  const auto found = sets_.find(set);
  if (found != sets_.end()) {
    pools_[found->second.pool].erase(set);
    sets_.erase(found);
  }
}

void DescriptorTable::remove_pool(VkDescriptorPool pool) {
  const auto found = pools_.find(pool);
  if (found != pools_.end()) {
    for (VkDescriptorSet set : found->second) {
      sets_.erase(set);
    }
    pools_.erase(found);
  }
}

void DescriptorTable::forget_sets() noexcept {
  for (auto& [handle, set] : sets_) {
    set.structures.clear();
  }
}

void DescriptorTable::write(const VkWriteDescriptorSet& write) {
  const auto found = sets_.find(write.dstSet);
  if (found != sets_.end()) {
    put(found->second.structures, found->second.layout.get(), write);
  }
}

void DescriptorTable::copy(const VkCopyDescriptorSet& copy) {
  const auto to = sets_.find(copy.dstSet);
  const auto from = sets_.find(copy.srcSet);
  if (to == sets_.end() || from == sets_.end()) {
    return;
  }
  const auto binding = from->second.layout->bindings.find(copy.srcBinding);
  if (binding == from->second.layout->bindings.end() || !may_hold_structures(binding->second.type)) {
    return;
  }
  Cursor source(from->second.layout.get(), copy.srcBinding, copy.srcArrayElement);
  Cursor target(to->second.layout.get(), copy.dstBinding, copy.dstArrayElement);
  for (std::uint32_t i = 0; i < copy.descriptorCount && source.valid() && target.valid(); ++i) {
    const auto structure = from->second.structures.find(source.at());
    if (structure == from->second.structures.end()) {
      to->second.structures.erase(target.at());
    } else {
      to->second.structures[target.at()] = structure->second;
    }
    source.advance();
    target.advance();
  }
}

void DescriptorTable::add_template(VkDescriptorUpdateTemplate handle,
                                   const VkDescriptorUpdateTemplateCreateInfo& info) {
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
  for (std::uint32_t i = 0; i < info.descriptorUpdateEntryCount && info.pDescriptorUpdateEntries != nullptr; ++i) {
    if (info.pDescriptorUpdateEntries[i].descriptorType == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR) {
      entries.push_back(info.pDescriptorUpdateEntries[i]);
    }
  }
  templates_.erase(handle);
  if (!entries.empty()) {
    templates_.emplace(handle, Template{info.pipelineBindPoint, std::move(entries)});
  }
}

void DescriptorTable::remove_template(VkDescriptorUpdateTemplate handle) {
  templates_.erase(handle);
}

bool DescriptorTable::pushes_structures(VkDescriptorUpdateTemplate handle) const {
  const auto found = templates_.find(handle);
  return found != templates_.end() && found->second.bind_point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
}

void DescriptorTable::write_template(VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void* data) {
  const auto found = sets_.find(set);
  const auto entries = templates_.find(handle);
  if (found == sets_.end() || entries == templates_.end() || data == nullptr) {
    return;
  }
  for (const VkDescriptorUpdateTemplateEntry& entry : entries->second.entries) {
    put(found->second.structures, found->second.layout.get(), entry.dstBinding, entry.dstArrayElement,
        entry.descriptorCount, static_cast<const std::uint8_t*>(data) + entry.offset, entry.stride);
  }
}

void DescriptorTable::push(SetStructures& to, VkPipelineLayout layout, std::uint32_t set,
                           const VkWriteDescriptorSet& write) const {
  put(to, layout_of(layout, set).get(), write);
}

void DescriptorTable::push_template(SetStructures& to, VkPipelineLayout layout, std::uint32_t set,
                                    VkDescriptorUpdateTemplate handle, const void* data) const {
  const auto entries = templates_.find(handle);
  if (entries == templates_.end() || data == nullptr) {
    return;
  }
  const SetLayoutPointer known = layout_of(layout, set);
  for (const VkDescriptorUpdateTemplateEntry& entry : entries->second.entries) {
    put(to, known.get(), entry.dstBinding, entry.dstArrayElement, entry.descriptorCount,
        static_cast<const std::uint8_t*>(data) + entry.offset, entry.stride);
  }
}

const SetStructures* DescriptorTable::get(VkDescriptorSet set) const {
  const auto found = sets_.find(set);
  return found == sets_.end() ? nullptr : &found->second.structures;
}

}  // namespace rayreplay::layer::geometry
