// A headless Vulkan device with ray tracing, and a triangle to trace: what every scenario begins with.
//
// Like a plain application: nothing here knows of the capture. A call that fails ends the program with exit code 3.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <span>
#include <vector>

namespace scenario {

inline constexpr std::uint32_t kWidth = 16, kHeight = 16, kThreads = kWidth * kHeight;
inline constexpr std::uint32_t kPictureWords = 64 * kThreads;

[[noreturn]] void fail(const char* what, long code);
void check(VkResult result, const char* what);

struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  void* data = nullptr;
};

/// How a device is asked for its features. Indirect2: as Core12, with tables that are named in device memory.
/// None: without ray tracing.
enum class FeatureStyle { Core12, Individual, PlainFeatures, Indirect2, None };

struct Functions {
#define SCENARIO_FUNCTIONS(X)                 \
  X(CmdTraceRaysKHR)                          \
  X(CmdTraceRaysIndirectKHR)                  \
  X(CmdTraceRaysIndirect2KHR)                 \
  X(CreateRayTracingPipelinesKHR)             \
  X(GetRayTracingShaderGroupHandlesKHR)       \
  X(GetRayTracingShaderGroupStackSizeKHR)     \
  X(CmdBuildAccelerationStructuresKHR)        \
  X(CreateAccelerationStructureKHR)           \
  X(DestroyAccelerationStructureKHR)          \
  X(GetAccelerationStructureBuildSizesKHR)    \
  X(GetAccelerationStructureDeviceAddressKHR) \
  X(CreateDeferredOperationKHR)               \
  X(DestroyDeferredOperationKHR)              \
  X(DeferredOperationJoinKHR)                 \
  X(GetDeferredOperationResultKHR)            \
  X(CmdSetRayTracingPipelineStackSizeKHR)
#define X(name) PFN_vk##name name = nullptr;
  SCENARIO_FUNCTIONS(X)
#undef X
};

VkInstance make_instance();

/// A device with queues, functions and a command pool.
class Context {
 public:
  explicit Context(VkInstance instance, FeatureStyle style = FeatureStyle::Core12);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Does not destroy the device: destroy() does, so that a scenario may leave it.
  ~Context() = default;
  void destroy();

  [[nodiscard]] Buffer make_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage);
  void free(Buffer& buffer);
  [[nodiscard]] VkCommandBuffer allocate(VkCommandPool pool,
                                         VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  [[nodiscard]] VkCommandPool make_pool();
  void submit_and_wait(VkCommandBuffer commands);

  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  Functions vk;
  std::uint32_t handle_bytes = 0;
};

void begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags = 0);
void begin_secondary(VkCommandBuffer commands, VkCommandBufferUsageFlags flags = 0);
void end(VkCommandBuffer commands);

}  // namespace scenario
