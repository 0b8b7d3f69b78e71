#include "capture/layer/geometry/descriptor_table.hpp"

#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

bool is_image(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
         type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
}

/// The filters of the samplers that a binding's layout has; other bindings may have any pointer there.
std::vector<spool::ImageFilter> immutable_filters(const VkDescriptorSetLayoutBinding& binding,
                                                  const ImageTable* images) {
  std::vector<spool::ImageFilter> filters;
  if (images != nullptr && binding.descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER &&
      binding.pImmutableSamplers != nullptr) {
    for (std::uint32_t i = 0; i < binding.descriptorCount; ++i) {
      filters.push_back(images->filter(binding.pImmutableSamplers[i]));
    }
  }
  return filters;
}

/// The filter that the layout has for a descriptor, else `otherwise`.
spool::ImageFilter immutable_or(const SetLayout* layout, std::pair<std::uint32_t, std::uint32_t> at,
                                spool::ImageFilter otherwise) {
  if (layout == nullptr) {
    return otherwise;
  }
  const auto binding = layout->bindings.find(at.first);
  return binding == layout->bindings.end() || at.second >= binding->second.immutable.size()
             ? otherwise
             : binding->second.immutable[at.second];
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

bool DescriptorTable::wants(VkDescriptorType type) const {
  return type == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR || (images_ != nullptr && is_image(type));
}

bool DescriptorTable::may_hold(VkDescriptorType type) const {
  return wants(type) || type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
}

bool DescriptorTable::concerns(const VkWriteDescriptorSet& write) const {
  return structures_of(write) != nullptr || (images_ != nullptr && is_image(write.descriptorType));
}

void DescriptorTable::put(SetContents& to, const SetLayout* layout, std::uint32_t binding, std::uint32_t element,
                          std::uint32_t count, VkDescriptorType type, const std::uint8_t* data,
                          std::size_t stride) const {
  Cursor cursor(layout, binding, element);
  for (std::uint32_t i = 0; i < count && cursor.valid(); ++i, cursor.advance()) {
    Descriptor made;
    if (is_image(type)) {
      VkDescriptorImageInfo info{};
      std::memcpy(&info, data + i * stride, sizeof info);
      made.view = images_->view(info.imageView);
      if (type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER) {
        made.filter = immutable_or(layout, cursor.at(), images_->filter(info.sampler));
      }
    } else {
      std::memcpy(&made.structure, data + i * stride, sizeof made.structure);
    }
    to[cursor.at()] = std::move(made);
  }
}

void DescriptorTable::put(SetContents& to, const SetLayout* layout, const VkWriteDescriptorSet& write) const {
  if (!concerns(write)) {
    return;
  }
  if (is_image(write.descriptorType)) {
    if (write.pImageInfo != nullptr) {
      put(to, layout, write.dstBinding, write.dstArrayElement, write.descriptorCount, write.descriptorType,
          reinterpret_cast<const std::uint8_t*>(write.pImageInfo), sizeof(VkDescriptorImageInfo));
    }
    return;
  }
  const auto* structures = structures_of(write);
  if (structures->pAccelerationStructures != nullptr) {
    put(to, layout, write.dstBinding, write.dstArrayElement, structures->accelerationStructureCount,
        write.descriptorType, reinterpret_cast<const std::uint8_t*>(structures->pAccelerationStructures),
        sizeof(VkAccelerationStructureKHR));
  }
}

void DescriptorTable::put_template(SetContents& to, const SetLayout* layout, const Template& entries,
                                   const void* data) const {
  for (const VkDescriptorUpdateTemplateEntry& entry : entries.entries) {
    put(to, layout, entry.dstBinding, entry.dstArrayElement, entry.descriptorCount, entry.descriptorType,
        static_cast<const std::uint8_t*>(data) + entry.offset, entry.stride);
  }
}

void DescriptorTable::add_layout(VkDescriptorSetLayout layout, const VkDescriptorSetLayoutCreateInfo& info) {
  auto made = std::make_shared<SetLayout>();
  for (std::uint32_t i = 0; i < info.bindingCount && info.pBindings != nullptr; ++i) {
    const VkDescriptorSetLayoutBinding& binding = info.pBindings[i];
    made->bindings[binding.binding] = {binding.descriptorType, binding.descriptorCount,
                                       immutable_filters(binding, images_)};
    made->followed = made->followed || may_hold(binding.descriptorType);
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
  if (found != layouts_.end() && found->second->followed) {
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
    set.contents.clear();
  }
}

void DescriptorTable::write(const VkWriteDescriptorSet& write) {
  const auto found = sets_.find(write.dstSet);
  if (found != sets_.end()) {
    put(found->second.contents, found->second.layout.get(), write);
  }
}

void DescriptorTable::copy(const VkCopyDescriptorSet& copy) {
  const auto to = sets_.find(copy.dstSet);
  const auto from = sets_.find(copy.srcSet);
  if (to == sets_.end() || from == sets_.end()) {
    return;
  }
  const auto binding = from->second.layout->bindings.find(copy.srcBinding);
  if (binding == from->second.layout->bindings.end() || !may_hold(binding->second.type)) {
    return;
  }
  Cursor source(from->second.layout.get(), copy.srcBinding, copy.srcArrayElement);
  Cursor target(to->second.layout.get(), copy.dstBinding, copy.dstArrayElement);
  for (std::uint32_t i = 0; i < copy.descriptorCount && source.valid() && target.valid(); ++i) {
    const auto held = from->second.contents.find(source.at());
    if (held == from->second.contents.end()) {
      to->second.contents.erase(target.at());
    } else {
      Descriptor copied = held->second;
      copied.filter = immutable_or(to->second.layout.get(), target.at(), copied.filter);
      to->second.contents[target.at()] = std::move(copied);
    }
    source.advance();
    target.advance();
  }
}

void DescriptorTable::add_template(VkDescriptorUpdateTemplate handle,
                                   const VkDescriptorUpdateTemplateCreateInfo& info) {
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
  for (std::uint32_t i = 0; i < info.descriptorUpdateEntryCount && info.pDescriptorUpdateEntries != nullptr; ++i) {
    if (wants(info.pDescriptorUpdateEntries[i].descriptorType)) {
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

bool DescriptorTable::pushes(VkDescriptorUpdateTemplate handle) const {
  const auto found = templates_.find(handle);
  return found != templates_.end() && found->second.bind_point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
}

void DescriptorTable::write_template(VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void* data) {
  const auto found = sets_.find(set);
  const auto entries = templates_.find(handle);
  if (found == sets_.end() || entries == templates_.end() || data == nullptr) {
    return;
  }
  put_template(found->second.contents, found->second.layout.get(), entries->second, data);
}

void DescriptorTable::push(SetContents& to, VkPipelineLayout layout, std::uint32_t set,
                           const VkWriteDescriptorSet& write) const {
  put(to, layout_of(layout, set).get(), write);
}

void DescriptorTable::push_template(SetContents& to, VkPipelineLayout layout, std::uint32_t set,
                                    VkDescriptorUpdateTemplate handle, const void* data) const {
  const auto entries = templates_.find(handle);
  if (entries == templates_.end() || data == nullptr) {
    return;
  }
  put_template(to, layout_of(layout, set).get(), entries->second, data);
}

const SetContents* DescriptorTable::get(VkDescriptorSet set) const {
  const auto found = sets_.find(set);
  return found == sets_.end() ? nullptr : &found->second.contents;
}

}  // namespace rayreplay::layer::geometry
