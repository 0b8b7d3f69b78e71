#include "capture/apps/framework/descriptors.hpp"

#include <array>

#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

/// In the order of Binding's alternatives; the last says its own.
constexpr std::array<VkDescriptorType, std::variant_size_v<Binding> - 1> kTypes{
    VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};

VkDescriptorType type_of(const Binding& resource) {
  const auto* images = std::get_if<ImagesBinding>(&resource);
  return images != nullptr ? images->type : kTypes.at(resource.index());
}

std::uint32_t count_of(const Binding& resource) {
  const auto* images = std::get_if<ImagesBinding>(&resource);
  return images != nullptr ? static_cast<std::uint32_t>(images->images.size()) : 1;
}

}  // namespace

DescriptorSet::DescriptorSet(const Device& device, const std::vector<Binding>& resources) : device_(&device) {
  try {
    create(resources);
  } catch (...) {
    release();
    throw;
  }
}

DescriptorSet::~DescriptorSet() {
  release();
}

void DescriptorSet::create(const std::vector<Binding>& resources) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  std::vector<VkDescriptorPoolSize> sizes;
  for (const Binding& resource : resources) {
    const VkDescriptorType type = type_of(resource);
    const std::uint32_t count = count_of(resource);
    bindings.push_back({static_cast<std::uint32_t>(bindings.size()), type, count, kRayTracingStages, nullptr});
    sizes.push_back({type, count});
  }
  VkDescriptorSetLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  layout.bindingCount = static_cast<std::uint32_t>(bindings.size());
  layout.pBindings = bindings.data();
  require_success(vkCreateDescriptorSetLayout(device_->handle(), &layout, nullptr, &layout_),
                  "vkCreateDescriptorSetLayout");
  VkDescriptorPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = 1;
  pool.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
  pool.pPoolSizes = sizes.data();
  require_success(vkCreateDescriptorPool(device_->handle(), &pool, nullptr, &pool_), "vkCreateDescriptorPool");
  VkDescriptorSetAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = pool_;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &layout_;
  require_success(vkAllocateDescriptorSets(device_->handle(), &allocation, &set_), "vkAllocateDescriptorSets");
  for (std::uint32_t binding = 0; binding < resources.size(); ++binding) {
    write(binding, resources[binding]);
  }
}

void DescriptorSet::write(std::uint32_t binding, const Binding& resource) {
  VkWriteDescriptorSet info{};
  info.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  info.dstSet = set_;
  info.dstBinding = binding;
  info.descriptorCount = count_of(resource);
  info.descriptorType = type_of(resource);
  VkWriteDescriptorSetAccelerationStructureKHR structure{};
  VkDescriptorImageInfo image{};
  VkDescriptorBufferInfo buffer{};
  if (const auto* top = std::get_if<StructureBinding>(&resource)) {
    structure.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
    structure.accelerationStructureCount = 1;
    structure.pAccelerationStructures = &top->structure;
    info.pNext = &structure;
  } else if (const auto* picture = std::get_if<ImageBinding>(&resource)) {
    image.imageView = picture->view;
    image.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    info.pImageInfo = &image;
  } else if (const auto* images = std::get_if<ImagesBinding>(&resource)) {
    info.pImageInfo = images->images.data();
  } else {
    const auto* uniform = std::get_if<UniformBinding>(&resource);
    const Buffer& bound = uniform != nullptr ? *uniform->buffer : *std::get<StorageBinding>(resource).buffer;
    buffer = {bound.handle(), 0, VK_WHOLE_SIZE};
    info.pBufferInfo = &buffer;
  }
  vkUpdateDescriptorSets(device_->handle(), 1, &info, 0, nullptr);
}

void DescriptorSet::release() noexcept {
  vkDestroyDescriptorPool(device_->handle(), pool_, nullptr);
  vkDestroyDescriptorSetLayout(device_->handle(), layout_, nullptr);
}

}  // namespace rayreplay::apps
