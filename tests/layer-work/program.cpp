// A program without ray tracing: dispatches a compute shader and draws two triangles, then prints what they wrote.
// Arguments: "late" leaves the pipelines to the end of the device, "never" ends without destroying anything.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <vulkan/vulkan.h>

#include "WorkCompute.spv.hpp"
#include "WorkFragment.spv.hpp"
#include "WorkVertex.spv.hpp"

namespace {

constexpr std::uint32_t kWidth = 40, kHeight = 24, kValues = 80;

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    std::fprintf(stderr, "%s: VkResult %d\n", what, result);
    std::exit(1);
  }
}

struct Program {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties memory{};

  Program() {
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
    std::uint32_t count = 1;
    const VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    check(found == VK_INCOMPLETE ? VK_SUCCESS : found, "vkEnumeratePhysicalDevices");
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{};
    queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo create{};
    create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queues;
    check(vkCreateDevice(physical, &create, nullptr, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, 0, 0, &queue);
  }

  [[nodiscard]] std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      if ((bits >> i & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
        return i;
      }
    }
    check(VK_ERROR_UNKNOWN, "memory types");
    return 0;
  }

  VkDeviceMemory allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted = 0) const {
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = needs.size;
    info.memoryTypeIndex = memory_type(needs.memoryTypeBits, wanted);
    VkDeviceMemory result = VK_NULL_HANDLE;
    check(vkAllocateMemory(device, &info, nullptr, &result), "vkAllocateMemory");
    return result;
  }

  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    std::uint32_t* data = nullptr;
  };
  Buffer buffer(VkDeviceSize bytes, VkBufferUsageFlags usage) const {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = usage;
    Buffer result;
    check(vkCreateBuffer(device, &info, nullptr, &result.handle), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device, result.handle, &needs);
    auto* const of_buffer = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkBindBufferMemory(device, result.handle, of_buffer, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    check(vkMapMemory(device, of_buffer, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    result.data = static_cast<std::uint32_t*>(mapped);
    return result;
  }

  VkShaderModule module(const std::uint32_t* words, std::size_t bytes) const {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = bytes;
    info.pCode = words;
    VkShaderModule result = VK_NULL_HANDLE;
    check(vkCreateShaderModule(device, &info, nullptr, &result), "vkCreateShaderModule");
    return result;
  }
};

VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits flag, VkShaderModule module) {
  VkPipelineShaderStageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage = flag;
  info.module = module;
  info.pName = "main";
  return info;
}

struct Compute {
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Program::Buffer data;

  explicit Compute(const Program& program)
      : data(program.buffer(2 * kValues * sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)) {
    for (std::uint32_t i = 0; i < kValues; ++i) {
      data.data[i] = i % 10;
    }
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT,
                                               nullptr};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 1;
    set_info.pBindings = &binding;
    check(vkCreateDescriptorSetLayout(program.device, &set_info, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    check(vkCreatePipelineLayout(program.device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    check(vkCreateDescriptorPool(program.device, &pool_info, nullptr, &pool), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocation.descriptorPool = pool;
    allocation.descriptorSetCount = 1;
    allocation.pSetLayouts = &set_layout;
    check(vkAllocateDescriptorSets(program.device, &allocation, &set), "vkAllocateDescriptorSets");
    const VkDescriptorBufferInfo of_buffer{data.handle, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &of_buffer;
    vkUpdateDescriptorSets(program.device, 1, &write, 0, nullptr);
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, program.module(kWorkCompute, sizeof kWorkCompute));
    info.layout = layout;
    check(vkCreateComputePipelines(program.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateComputePipelines");
  }

  void record(VkCommandBuffer commands) const {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    vkCmdDispatch(commands, kValues / 16, 1, 1);
  }
};

struct Drawing {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  VkRenderPass pass = VK_NULL_HANDLE;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Program::Buffer picture;

  explicit Drawing(const Program& program)
      : picture(program.buffer(kWidth * kHeight * sizeof(std::uint32_t), VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
    VkImageCreateInfo image_info{};
    image_info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    image_info.imageType = VK_IMAGE_TYPE_2D;
    image_info.format = VK_FORMAT_R8G8B8A8_UNORM;
    image_info.extent = {kWidth, kHeight, 1};
    image_info.mipLevels = image_info.arrayLayers = 1;
    image_info.samples = VK_SAMPLE_COUNT_1_BIT;
    image_info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    check(vkCreateImage(program.device, &image_info, nullptr, &image), "vkCreateImage");
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(program.device, image, &needs);
    check(vkBindImageMemory(program.device, image, program.allocate(needs), 0), "vkBindImageMemory");
    VkImageViewCreateInfo view_info{};
    view_info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    view_info.image = image;
    view_info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view_info.format = image_info.format;
    view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    check(vkCreateImageView(program.device, &view_info, nullptr, &view), "vkCreateImageView");
    VkAttachmentDescription attachment{};
    attachment.format = image_info.format;
    attachment.samples = VK_SAMPLE_COUNT_1_BIT;
    attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    attachment.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
    VkRenderPassCreateInfo pass_info{};
    pass_info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
    pass_info.attachmentCount = pass_info.subpassCount = 1;
    pass_info.pAttachments = &attachment;
    pass_info.pSubpasses = &subpass;
    check(vkCreateRenderPass(program.device, &pass_info, nullptr, &pass), "vkCreateRenderPass");
    VkFramebufferCreateInfo frame_info{};
    frame_info.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    frame_info.renderPass = pass;
    frame_info.attachmentCount = 1;
    frame_info.pAttachments = &view;
    frame_info.width = kWidth;
    frame_info.height = kHeight;
    frame_info.layers = 1;
    check(vkCreateFramebuffer(program.device, &frame_info, nullptr, &framebuffer), "vkCreateFramebuffer");
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    check(vkCreatePipelineLayout(program.device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");
    make_pipeline(program);
  }

  void make_pipeline(const Program& program) {
    const std::array<VkPipelineShaderStageCreateInfo, 2> stages = {
        stage(VK_SHADER_STAGE_VERTEX_BIT, program.module(kWorkVertex, sizeof kWorkVertex)),
        stage(VK_SHADER_STAGE_FRAGMENT_BIT, program.module(kWorkFragment, sizeof kWorkFragment))};
    VkPipelineVertexInputStateCreateInfo input{};
    input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    VkPipelineInputAssemblyStateCreateInfo assembly{};
    assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const VkViewport viewport{0, 0, kWidth, kHeight, 0, 1};
    const VkRect2D scissor{{0, 0}, {kWidth, kHeight}};
    VkPipelineViewportStateCreateInfo views{};
    views.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
    views.viewportCount = views.scissorCount = 1;
    views.pViewports = &viewport;
    views.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster{};
    raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{};
    samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState blend{};
    blend.colorWriteMask = 0xF;
    VkPipelineColorBlendStateCreateInfo blends{};
    blends.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
    blends.attachmentCount = 1;
    blends.pAttachments = &blend;
    VkGraphicsPipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
    info.stageCount = stages.size();
    info.pStages = stages.data();
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &views;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blends;
    info.layout = layout;
    info.renderPass = pass;
    check(vkCreateGraphicsPipelines(program.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateGraphicsPipelines");
  }

  void record(VkCommandBuffer commands) const {
    const VkClearValue clear{};
    VkRenderPassBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
    begin.renderPass = pass;
    begin.framebuffer = framebuffer;
    begin.renderArea = {{0, 0}, {kWidth, kHeight}};
    begin.clearValueCount = 1;
    begin.pClearValues = &clear;
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(commands, 6, 1, 0, 0);
    vkCmdEndRenderPass(commands);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {kWidth, kHeight, 1};
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, picture.handle, 1, &region);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view end = argc > 1 ? argv[1] : "";
  const Program program;
  const Compute compute(program);
  const Drawing drawing(program);
  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(vkCreateCommandPool(program.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
  VkCommandBufferAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocation.commandPool = pool;
  allocation.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(program.device, &allocation, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  compute.record(commands);
  drawing.record(commands);
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                       nullptr, 0, nullptr);
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(program.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(program.queue), "vkQueueWaitIdle");
  std::uint32_t hash = 2166136261U;
  for (std::uint32_t i = 0; i < kWidth * kHeight; ++i) {
    hash = (hash ^ drawing.picture.data[i]) * 16777619U;
  }
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < kValues; ++i) {
    sum += compute.data.data[kValues + i] * (i + 1);
  }
  std::printf("results %u, picture %08x, first drawn pixel %08x\n", sum, hash, drawing.picture.data[8]);
  std::fflush(stdout);
  if (end == "never") {
    std::_Exit(0);
  }
  if (end != "late") {
    vkDestroyPipeline(program.device, compute.pipeline, nullptr);
    vkDestroyPipeline(program.device, drawing.pipeline, nullptr);
  }
  vkDestroyDevice(program.device, nullptr);
  vkDestroyInstance(program.instance, nullptr);
  return 0;
}
