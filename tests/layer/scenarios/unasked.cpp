#include "unasked.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "triangle.hpp"

namespace scenario {
namespace {

/// Device functions of all kinds, those that a capture is likely to look at among them.
constexpr const char* kNames[] = {
    "vkAllocateCommandBuffers",
    "vkAllocateDescriptorSets",
    "vkBeginCommandBuffer",
    "vkBindBufferMemory",
    "vkBindBufferMemory2",
    "vkBindBufferMemory2KHR",
    "vkBuildAccelerationStructuresKHR",
    "vkCmdBeginDebugUtilsLabelEXT",
    "vkCmdBindDescriptorSets",
    "vkCmdBindDescriptorSets2",
    "vkCmdBindDescriptorSets2KHR",
    "vkCmdBindPipeline",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyAccelerationStructureToMemoryKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
    "vkCmdDrawMeshTasksEXT",
    "vkCmdEndDebugUtilsLabelEXT",
    "vkCmdExecuteCommands",
    "vkCmdInsertDebugUtilsLabelEXT",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSet2",
    "vkCmdPushDescriptorSet2KHR",
    "vkCmdPushDescriptorSetKHR",
    "vkCmdPushDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSetWithTemplate2",
    "vkCmdPushDescriptorSetWithTemplate2KHR",
    "vkCmdPushDescriptorSetWithTemplateKHR",
    "vkCmdSetDescriptorBufferOffsets2EXT",
    "vkCmdSetDescriptorBufferOffsetsEXT",
    "vkCmdSetRayTracingPipelineStackSizeKHR",
    "vkCmdTraceRaysIndirect2KHR",
    "vkCmdTraceRaysIndirectKHR",
    "vkCmdTraceRaysKHR",
    "vkCopyAccelerationStructureKHR",
    "vkCopyAccelerationStructureToMemoryKHR",
    "vkCopyMemoryToAccelerationStructureKHR",
    "vkCreateAccelerationStructureKHR",
    "vkCreateBuffer",
    "vkCreateDescriptorSetLayout",
    "vkCreateDescriptorUpdateTemplate",
    "vkCreateDescriptorUpdateTemplateKHR",
    "vkCreatePipelineLayout",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateShaderModule",
    "vkCreateSwapchainKHR",
    "vkDebugMarkerSetObjectNameEXT",
    "vkDestroyAccelerationStructureKHR",
    "vkDestroyBuffer",
    "vkDestroyCommandPool",
    "vkDestroyDescriptorPool",
    "vkDestroyDescriptorSetLayout",
    "vkDestroyDescriptorUpdateTemplate",
    "vkDestroyDescriptorUpdateTemplateKHR",
    "vkDestroyDevice",
    "vkDestroyPipeline",
    "vkDestroyPipelineLayout",
    "vkDestroyShaderModule",
    "vkDeviceWaitIdle",
    "vkFreeCommandBuffers",
    "vkFreeDescriptorSets",
    "vkGetAccelerationStructureDeviceAddressKHR",
    "vkGetDeviceBufferMemoryRequirements",
    "vkGetDeviceBufferMemoryRequirementsKHR",
    "vkGetDeviceProcAddr",
    "vkGetFenceStatus",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueBindSparse",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkQueueInsertDebugUtilsLabelEXT",
    "vkQueuePresentKHR",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
    "vkQueueWaitIdle",
    "vkResetCommandBuffer",
    "vkResetCommandPool",
    "vkResetDescriptorPool",
    "vkSetDebugUtilsObjectNameEXT",
    "vkSetDebugUtilsObjectTagEXT",
    "vkUpdateDescriptorSetWithTemplate",
    "vkUpdateDescriptorSetWithTemplateKHR",
    "vkUpdateDescriptorSets",
    "vkWaitForFences",
    "vkWaitSemaphores",
    "vkWaitSemaphoresKHR",
};

template <typename Function>
Function function_of(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(vkGetDeviceProcAddr(device, name));
}

void name_objects(VkDevice device, VkQueue queue, VkCommandBuffer commands) {
  const auto set_name = function_of<PFN_vkSetDebugUtilsObjectNameEXT>(device, "vkSetDebugUtilsObjectNameEXT");
  const auto set_tag = function_of<PFN_vkSetDebugUtilsObjectTagEXT>(device, "vkSetDebugUtilsObjectTagEXT");
  const auto begin_label = function_of<PFN_vkCmdBeginDebugUtilsLabelEXT>(device, "vkCmdBeginDebugUtilsLabelEXT");
  const auto end_label = function_of<PFN_vkCmdEndDebugUtilsLabelEXT>(device, "vkCmdEndDebugUtilsLabelEXT");
  const auto queue_label = function_of<PFN_vkQueueInsertDebugUtilsLabelEXT>(device, "vkQueueInsertDebugUtilsLabelEXT");
  for (const auto type : {VK_OBJECT_TYPE_DEVICE, VK_OBJECT_TYPE_SHADER_MODULE}) {
    VkDebugUtilsObjectNameInfoEXT name{};
    name.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
    name.objectType = type;
    name.objectHandle = reinterpret_cast<std::uint64_t>(device);
    name.pObjectName = "an object";
    std::printf("named %d\n", set_name == nullptr ? 1 : set_name(device, &name));
  }
  VkDebugUtilsObjectTagInfoEXT tag{};
  tag.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_TAG_INFO_EXT;
  tag.objectType = VK_OBJECT_TYPE_DEVICE;
  tag.objectHandle = reinterpret_cast<std::uint64_t>(device);
  tag.tagSize = 1;
  tag.pTag = "";
  std::printf("tagged %d\n", set_tag == nullptr ? 1 : set_tag(device, &tag));
  VkDebugUtilsLabelEXT label{};
  label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
  label.pLabelName = "a label";
  begin(commands);
  if (begin_label != nullptr && end_label != nullptr) {
    begin_label(commands, &label);
    end_label(commands);
  }
  end(commands);
  if (queue_label != nullptr) {
    queue_label(queue, &label);
  }
}

void ask(VkInstance instance, VkDevice device) {
  for (const char* name : kNames) {
    std::printf("%s: %s %s\n", name, vkGetDeviceProcAddr(device, name) == nullptr ? "absent" : "there",
                vkGetInstanceProcAddr(instance, name) == nullptr ? "absent" : "there");
  }
}

}  // namespace

void unasked(bool tracing) {
  auto* instance = make_instance();
  if (tracing) {
    Context context(instance);
    Triangle triangle(context);
    auto* commands = context.allocate(context.pool);
    ask(instance, context.device);
    name_objects(context.device, context.queue, commands);
    begin(commands);
    triangle.trace(commands, kWidth, kHeight, 0);
    end(commands);
    context.submit_and_wait(commands);
    std::printf("%s\n", triangle.picture().c_str());
    triangle.destroy();
    context.destroy();
  } else {
    Context context(instance, FeatureStyle::None);
    ask(instance, context.device);
    name_objects(context.device, context.queue, context.allocate(context.pool));
    context.destroy();
  }
  vkDestroyInstance(instance, nullptr);
}

namespace {

/// Descriptors that a program started from here would inherit.
int inherited() {
  int count = 0;
  auto* folder = opendir("/proc/self/fd");
  while (const auto* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    const int flags = entry->d_name[0] == '.' || number == dirfd(folder) ? -1 : fcntl(number, F_GETFD);
    count += flags >= 0 && (flags & FD_CLOEXEC) == 0 ? 1 : 0;
  }
  closedir(folder);
  return count;
}

void try_standard(int report, const char* when) {
  std::string text = std::string(when) + ":";
  for (int number = 0; number < 3; ++number) {
    const bool written = write(number, "lost\n", 5) == 5;
    text += written ? " written" : " " + std::to_string(errno);
  }
  const int file = open("/dev/null", O_RDWR);
  // A number of 3 or greater may differ with a layer, so it is not printed.
  text += ", a new file is " + (file < 3 ? std::to_string(file) : std::string("none of them")) + ", inherited " +
          std::to_string(inherited()) + "\n";
  close(file);
  if (write(report, text.data(), text.size()) < 0) {
    fail("write", errno);
  }
}

}  // namespace

void without_standard_descriptors() {
  const int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  for (int number = 0; number < 3; ++number) {
    close(number);
  }
  try_standard(report, "first");
  auto* instance = make_instance();
  try_standard(report, "instance");
  // A file of the program's own in the place of standard error: the layer must not write there.
  const int own = memfd_create("own", MFD_CLOEXEC);
  dup2(own, STDERR_FILENO);
  {
    Context context(instance);
    try_standard(report, "device");
    Triangle triangle(context);
    auto* commands = context.allocate(context.pool);
    begin(commands);
    triangle.trace(commands, kWidth, kHeight, 0);
    end(commands);
    context.submit_and_wait(commands);
    try_standard(report, triangle.picture().c_str());
    triangle.destroy();
    context.destroy();
  }
  vkDestroyInstance(instance, nullptr);
  try_standard(report, "last");
  const std::string size = std::to_string(lseek(own, 0, SEEK_END)) + " bytes in its own file\n";
  if (write(report, size.data(), size.size()) < 0) {
    fail("write", errno);
  }
}

}  // namespace scenario
