// The layer's state of a VkDevice.
//
// Made at vkCreateDevice, destroyed at vkDestroyDevice. `instrumented` is false where the device cannot or must not be
// observed, also for lack of memory: its calls are then only passed on (intercept.hpp). Members are written before
// vkCreateDevice returns and read-only afterwards, unless a mutex is named.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "capture/instrument/ser/insert.hpp"
#include "capture/layer/commands.hpp"
#include "capture/layer/device/dispatch.hpp"
#include "capture/layer/options/options.hpp"
#include "capture/layer/readback.hpp"

namespace rayreplay::layer {

namespace geometry {
class Tracker;
}
class Shaders;
class Pipelines;
class CounterMemory;
class CountedPipelines;
class EventMemory;
class TablePatcher;
class Timestamps;
class Submissions;

/// State of a VkInstance.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  InstanceDispatch vk;
  DeviceDispatch for_devices;  ///< fall-backs alone: functions that the next layer has for devices of any kind
  std::uint32_t api_version = VK_API_VERSION_1_0;  ///< as the application asked for
  std::string application_name, engine_name;
};

/// A queue of the device. `mutex` is held around every queue call, the application's and the layer's.
struct Queue {
  VkQueue handle = VK_NULL_HANDLE;
  std::uint32_t family = 0, index = 0;
  std::mutex mutex;
};

/// A buffer of the layer in device memory.
struct DeviceBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  VkDeviceSize bytes = 0;
};

struct Device {
  Device() noexcept;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  VkDevice handle = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  Instance* instance = nullptr;  ///< outlives the device: applications must destroy devices first
  DeviceDispatch vk;
  PFN_vkSetDeviceLoaderData set_loader_data = nullptr;

  std::uint32_t number = 0;     ///< in this process, as in the spool
  bool records = false;         ///< events are recorded (lazy: if there is memory for them when it is needed)
  bool instrumented = false;    ///< shaders are rewritten: events, a swizzle, or observe_all
  bool swapchain = false;       ///< frames end at vkQueuePresentKHR
  bool frame_boundary = false;  ///< frames may also end at submissions that say so
  bool gated = false;           ///< not every launch is captured: shaders look at RR_CONTROL_GATE
  bool lazy = false;            ///< what recording needs is made when a launch needs it (Variant, EventMemory)
  bool has_clock = false, has_sm = false, has_ballot = false, wide_subgroups = false;
  /// Ray-generation shaders get reorder calls of this form. hints_ser: with the hint of the options.
  std::optional<instrument::HitObjectForm> inserts_ser;
  bool hints_ser = false;
  bool statistics = false;       ///< VK_KHR_pipeline_executable_properties is on, for pipeline facts
  std::uint32_t most_lanes = 0;  ///< of a subgroup
  std::uint32_t subgroup_size = 0;
  VkShaderStageFlags subgroup_stages = 0;  ///< with subgroup operations
  bool is_lavapipe = false;                ///< lavapipe has them in more stages than it says

  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceRayTracingPipelinePropertiesKHR ray_tracing{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> families;
  std::vector<std::uint32_t> family_indices;  ///< families with queues of this device, each once
  std::vector<std::unique_ptr<Queue>> queues;

  DeviceBuffer events, control;  ///< as events_words: of event_memory, and not there before it was prepared
  std::uint64_t events_words = 0;
  DeviceBuffer swizzle;
  DeviceBuffer ray_flags;  ///< observe_all: a u32 of each thread (instrument::Options); empty if there is no memory

  std::atomic<bool> lost{false};  ///< stop recording: the device was lost or the spool cannot be written
  std::atomic<std::uint32_t> frame{0};

  std::unique_ptr<ReadbackPool> readback;
  std::unique_ptr<EventMemory> event_memory;
  std::unique_ptr<CounterMemory> counters;       ///< null unless blocks are counted
  std::unique_ptr<CounterMemory> work_counters;  ///< of the pipelines of `counted`; null if that is
  std::unique_ptr<CountedPipelines> counted;     ///< null unless compute or graphics shaders are counted
  std::unique_ptr<geometry::Tracker> geometry;   ///< null if geometry is off or the device does not record
  std::unique_ptr<Shaders> shaders;
  std::unique_ptr<Pipelines> pipelines;
  std::unique_ptr<TablePatcher> patcher;   ///< null unless lazy
  std::unique_ptr<Timestamps> timestamps;  ///< null where queues have none
  std::unique_ptr<Submissions> submissions;

  std::shared_mutex recordings_mutex;  ///< guards the map, not the recordings
  std::unordered_map<VkCommandBuffer, KnownCommands> recordings;

  std::mutex names_mutex;
  std::unordered_map<std::uint64_t, std::string> names;  ///< object handle → name from debug utilities

  [[nodiscard]] HostBuffer allocate_readback(VkDeviceSize bytes);

  /// Memory with an address, device-local unless `kind` says otherwise. Empty if there is none. All queue families of
  /// the device may use it.
  [[nodiscard]] DeviceBuffer allocate_device(VkDeviceSize bytes, VkBufferUsageFlags usage,
                                             VkMemoryPropertyFlags kind = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  void free(DeviceBuffer& buffer);

  /// First memory type of `bits` that has all `required` flags, preferring those that also have `preferred`;
  /// 0xFFFFFFFF if none.
  [[nodiscard]] std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags required,
                                          VkMemoryPropertyFlags preferred) const;

  /// Empty if the application gave the object no name.
  [[nodiscard]] std::string name_of(std::uint64_t handle);

  [[nodiscard]] Queue* queue_of(VkQueue queue) const;
};

/// The device of any of its dispatchable objects (VkDevice, VkQueue, VkCommandBuffer); null if unknown.
[[nodiscard]] Device* device_of(const void* dispatchable);

/// The completed options of the process.
[[nodiscard]] const Options& options();

/// A line for the spool's reader (once per text and launch; at most 1,000 per process) and, by the log level, for
/// stderr (once per text). If memory is short the note is lost, and the spool says so. `launch`: spool::kNone for the
/// whole process.
void note(std::string_view text, std::uint32_t launch = 0xFFFF'FFFFU) noexcept;

}  // namespace rayreplay::layer
