#include "images.hpp"

namespace scenario {

Images::Images(Context& context) : context_(context) {
  pictures_ = {make_picture(32), make_picture(64)};
  VkSamplerCreateInfo sampler{};
  sampler.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  sampler.magFilter = VK_FILTER_LINEAR;
  check(vkCreateSampler(context.device, &sampler, nullptr, &sampler_), "vkCreateSampler");
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr},
      {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, &sampler_}};
  VkDescriptorSetLayoutCreateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = 2;
  set_info.pBindings = bindings;
  check(vkCreateDescriptorSetLayout(context.device, &set_info, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
  const VkDescriptorSetLayout sets[] = {set_layout_, set_layout_};
  VkPipelineLayoutCreateInfo layout_info{};
  layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout_info.setLayoutCount = 2;
  layout_info.pSetLayouts = sets;
  check(vkCreatePipelineLayout(context.device, &layout_info, nullptr, &layout_), "vkCreatePipelineLayout");
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1},
                                        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1}};
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 2;
  pool_info.pPoolSizes = sizes;
  check(vkCreateDescriptorPool(context.device, &pool_info, nullptr, &pool_), "vkCreateDescriptorPool");
  VkDescriptorSetAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &set_layout_;
  check(vkAllocateDescriptorSets(context.device, &allocate, &set_), "vkAllocateDescriptorSets");
}

Images::~Images() {
  vkDestroyDescriptorPool(context_.device, pool_, nullptr);
  vkDestroyPipelineLayout(context_.device, layout_, nullptr);
  vkDestroyDescriptorSetLayout(context_.device, set_layout_, nullptr);
  vkDestroySampler(context_.device, sampler_, nullptr);
  for (const Picture& picture : pictures_) {
    vkDestroyImageView(context_.device, picture.view, nullptr);
    vkDestroyImage(context_.device, picture.image, nullptr);
    vkFreeMemory(context_.device, picture.memory, nullptr);
  }
}

Images::Picture Images::make_picture(std::uint32_t side) const {
  Picture made;
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {side, side, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  check(vkCreateImage(context_.device, &info, nullptr, &made.image), "vkCreateImage");
  VkMemoryRequirements needs{};
  vkGetImageMemoryRequirements(context_.device, made.image, &needs);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1U) == 0) {
    ++allocate.memoryTypeIndex;
  }
  check(vkAllocateMemory(context_.device, &allocate, nullptr, &made.memory), "vkAllocateMemory");
  check(vkBindImageMemory(context_.device, made.image, made.memory, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view{};
  view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  view.image = made.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  check(vkCreateImageView(context_.device, &view, nullptr, &made.view), "vkCreateImageView");
  return made;
}

void Images::fill(VkCommandBuffer commands) const {
  const VkImageSubresourceRange whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.subresourceRange = whole;
  const VkClearColorValue colour{{0.5F, 0.125F, 0.0F, 0.0F}};
  for (const Picture& picture : pictures_) {
    barrier.image = picture.image;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &barrier);
    vkCmdClearColorImage(commands, picture.image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &whole);
  }
  VkMemoryBarrier filled{};
  filled.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  filled.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  filled.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, 0, 1,
                       &filled, 0, nullptr, 0, nullptr);
}

void Images::write(bool turned) const {
  const std::size_t first = turned ? 1 : 0;
  const VkDescriptorImageInfo storage{VK_NULL_HANDLE, pictures_.at(first).view, VK_IMAGE_LAYOUT_GENERAL};
  const VkDescriptorImageInfo combined{VK_NULL_HANDLE, pictures_.at(1 - first).view, VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet writes[2] = {};
  for (std::uint32_t i = 0; i < 2; ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set_;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = i == 0 ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    writes[i].pImageInfo = i == 0 ? &storage : &combined;
  }
  vkUpdateDescriptorSets(context_.device, 2, writes, 0, nullptr);
}

void Images::bind(VkCommandBuffer commands) const {
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, layout_, 1, 1, &set_, 0, nullptr);
}

}  // namespace scenario
