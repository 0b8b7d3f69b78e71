#include "capture/layer/device/device_create.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/event_memory.hpp"
#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/pipelines/counted_pipelines.hpp"
#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"
#include "capture/layer/submissions.hpp"
#include "capture/layer/table_patch.hpp"
#include "capture/layer/timestamps.hpp"
#include "capture/spool/guest_files.hpp"

namespace rayreplay::layer {
namespace {

void find_queues(Device& device, const VkDeviceCreateInfo& created) {
  for (std::uint32_t i = 0; i < created.queueCreateInfoCount; ++i) {
    const auto& asked = created.pQueueCreateInfos[i];
    if (std::find(device.family_indices.begin(), device.family_indices.end(), asked.queueFamilyIndex) ==
        device.family_indices.end()) {
      device.family_indices.push_back(asked.queueFamilyIndex);
    }
    for (std::uint32_t index = 0; index < asked.queueCount; ++index) {
      auto queue = std::make_unique<Queue>();
      queue->family = asked.queueFamilyIndex;
      queue->index = index;
      if (asked.flags == 0) {
        device.vk.GetDeviceQueue(device.handle, queue->family, index, &queue->handle);
      } else if (device.vk.GetDeviceQueue2) {
        VkDeviceQueueInfo2 info{};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2;
        info.flags = asked.flags;
        info.queueFamilyIndex = queue->family;
        info.queueIndex = index;
        device.vk.GetDeviceQueue2(device.handle, &info, &queue->handle);
      }
      if (queue->handle != VK_NULL_HANDLE && device.set_loader_data(device.handle, queue->handle) == VK_SUCCESS) {
        // The layer's own commands go to the first queue, which should support all of them.
        const bool computes = (device.families[queue->family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
        device.queues.insert(computes ? device.queues.begin() : device.queues.end(), std::move(queue));
      }
    }
  }
}

/// Properties of the device, and its block for the spool.
spool::Device describe(Device& device) {
  const auto& vk = device.instance->vk;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  const auto chain = [&all](auto& structure, VkStructureType type) {
    structure.sType = type;
    structure.pNext = all.pNext;
    all.pNext = &structure;
  };
  VkPhysicalDeviceSubgroupProperties subgroup{};
  VkPhysicalDeviceDriverProperties driver{};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm{};
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  chain(subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
  chain(device.ray_tracing, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR);
  if (device.has_sm) {
    chain(sm, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
  }
  vk.GetPhysicalDeviceProperties(device.physical, &device.properties);
  const auto version = device.properties.apiVersion;
  if (version >= VK_API_VERSION_1_2) {
    chain(driver, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  }
  if (version >= VK_API_VERSION_1_3) {
    chain(sizes, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
  }
  vk.GetPhysicalDeviceProperties2(device.physical, &all);
  device.ray_tracing.pNext = nullptr;
  device.subgroup_size = subgroup.subgroupSize;
  device.subgroup_stages = subgroup.supportedStages;
  device.is_lavapipe = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  device.most_lanes = std::max(subgroup.subgroupSize, sizes.maxSubgroupSize);
  device.wide_subgroups = device.most_lanes > 32;

  spool::Device block;
  block.device = device.number;
  block.name = device.properties.deviceName;
  block.driver_name = driver.driverName;
  block.driver_info = driver.driverInfo;
  block.vendor_id = device.properties.vendorID;
  block.device_id = device.properties.deviceID;
  block.driver_version = device.properties.driverVersion;
  block.api_version = device.properties.apiVersion;
  block.subgroup_size = device.subgroup_size;
  block.has_clock = device.has_clock ? 1 : 0;
  block.has_sm = device.has_sm ? 1 : 0;
  block.sm_count = sm.shaderSMCount;
  block.warps_per_sm = sm.shaderWarpsPerSM;
  block.timestamp_period_ns = static_cast<double>(device.properties.limits.timestampPeriod);
  block.shader_group_handle_size = device.ray_tracing.shaderGroupHandleSize;
  return block;
}

/// observe_all: for launches of 7680×4320 threads, or fewer where there is less memory.
void allocate_ray_flags(Device& device) {
  constexpr VkDeviceSize kMaxThreads = VkDeviceSize{1} << 25U;
  constexpr VkDeviceSize kMinThreads = VkDeviceSize{1} << 20U;
  for (VkDeviceSize threads = kMaxThreads; threads >= kMinThreads && device.ray_flags.buffer == VK_NULL_HANDLE;
       threads /= 2) {
    device.ray_flags = device.allocate_device(threads * sizeof(std::uint32_t), 0);
  }
  if (device.ray_flags.buffer == VK_NULL_HANDLE) {
    note("observe-all: no memory for ray flags: opaque geometry under any-hit shaders is not observed");
  }
}

std::vector<std::uint32_t> read_swizzle() {
  const auto& wanted = options();
  const std::uint64_t threads = std::uint64_t{wanted.swizzle_width} * wanted.swizzle_height * wanted.swizzle_depth;
  const std::uint64_t bytes = threads * sizeof(std::uint32_t);
  std::string why;
  const auto content = spool::read_regular(wanted.swizzle, bytes, why);
  if (content && content->size() != bytes) {
    why = "it has " + std::to_string(content->size()) + " bytes, " + std::to_string(bytes) + " are needed";
  }
  if (!why.empty()) {
    note("swizzle " + wanted.swizzle + " is not applied: " + why);
    return {};
  }
  std::vector<std::uint32_t> table(threads);
  std::memcpy(table.data(), content->data(), bytes);
  // Not a permutation: the application would write where it never does without the swizzle.
  std::vector<bool> seen(threads);
  for (const auto thread : table) {
    if (thread >= threads || seen[thread]) {
      note("swizzle " + wanted.swizzle + " is not applied: it is no permutation of the launch's threads");
      return {};
    }
    seen[thread] = true;
  }
  return table;
}

void load_swizzle(Device& device) {
  if (options().swizzle.empty()) {
    return;
  }
  const auto table = read_swizzle();
  if (table.empty()) {
    return;
  }
  device.swizzle = device.allocate_device(table.size() * sizeof(std::uint32_t), VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  if (device.swizzle.buffer == VK_NULL_HANDLE || !device.submissions->upload(device.swizzle, table)) {
    device.free(device.swizzle);
    note("the device has no memory for the swizzle: it is not applied");
  }
}

/// Whether pipelines can stay the application's own until a launch of one is recorded. Not with options that change
/// every launch, nor where tables are named in device memory or compute is bound without a pipeline: tables then cannot
/// be copied before a launch.
bool can_be_lazy(const Device& device, const VkDeviceCreateInfo& created) {
  const auto* names = created.ppEnabledExtensionNames;
  const auto* maintenance = find_in_chain<VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR>(
      created.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR);
  return device.gated && !options().observe_all && !device.inserts_ser && options().swizzle.empty() &&
         device.vk.CmdDispatchBase && device.ray_tracing.shaderGroupHandleSize % sizeof(std::uint32_t) == 0 &&
         (maintenance == nullptr || maintenance->rayTracingPipelineTraceRaysIndirect2 == VK_FALSE) &&
         std::none_of(names, names + created.enabledExtensionCount,
                      [](const char* name) { return std::strcmp(name, "VK_EXT_shader_object") == 0; });
}

/// Sets up insert_ser as far as this device has it, and notes the rest.
void prepare_ser(Device& device, const DeviceRequest& request, const std::string& name) {
  const auto& wanted = options();
  if (!wanted.insert_ser) {
    return;
  }
  device.inserts_ser = request.reorder;
  device.hints_ser = request.float64;
  if (!request.reorder) {
    note("insert-ser: device " + name +
         " lacks " VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME
         " and VK_EXT_ray_tracing_invocation_reorder: shaders keep their trace calls");
  } else if (wanted.ser_hint && !request.float64) {
    note("insert-ser: device " + name + " lacks shaderFloat64: threads are reordered without the hint");
  }
}

void prepare(Device& device, const DeviceRequest& request, bool with_additions, const VkDeviceCreateInfo& created,
             spool::Device& block) {
  if (!with_additions || !request.enough) {
    note("device " + block.name + " cannot be observed: " +
         (request.enough ? "it refuses what instrumented shaders need" : "it lacks " + request.lacks));
    return;
  }
  if (device.most_lanes > 64) {
    note("device " + block.name + " cannot be observed: its subgroups have up to " + std::to_string(device.most_lanes) +
         " lanes, and records have room for 64");
    return;
  }
  if (device.queues.empty()) {
    note("device " + block.name + " cannot be observed: it has no queue");
    return;
  }
  device.readback = std::make_unique<ReadbackPool>(device);
  device.event_memory = std::make_unique<EventMemory>(device);
  const auto& wanted = options();
  if (request.counts) {
    device.work_counters = std::make_unique<CounterMemory>(device, CounterMemory::Kind::Host);
    device.counted = std::make_unique<CountedPipelines>(device, request.vertex_stores, request.fragment_stores);
  }
  if (!request.traces) {
    // Nothing but counts: no launch is recorded, so no memory for events is needed.
    device.lazy = true;
    device.submissions = std::make_unique<Submissions>(device);
    device.shaders = std::make_unique<Shaders>(device);
    device.pipelines = std::make_unique<Pipelines>(device);
    device.instrumented = true;
    return;
  }
  prepare_ser(device, request, block.name);
  device.gated = wanted.record && (wanted.frames || wanted.launch || !wanted.trigger_file.empty());
  device.lazy = can_be_lazy(device, created);
  if (!device.lazy && !device.event_memory->prepare()) {
    return;
  }
  device.records = wanted.record;
  if (device.lazy) {
    device.patcher = std::make_unique<TablePatcher>(device);
  }
  device.submissions = std::make_unique<Submissions>(device);
  if (!device.submissions->start()) {
    note("device " + block.name + " cannot be observed: it does not run commands");
    device.records = false;
    return;
  }
  load_swizzle(device);
  if (wanted.observe_all) {
    allocate_ray_flags(device);
  }
  // Launches of any family that computes may be recorded.
  if (std::all_of(device.family_indices.begin(), device.family_indices.end(), [&](auto family) {
        const auto& properties = device.families[family];
        return (properties.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || properties.timestampValidBits > 0;
      })) {
    device.timestamps = std::make_unique<Timestamps>(device);
  }
  if (device.records && wanted.geometry) {
    device.geometry = geometry::Tracker::create(device);
  }
  if (wanted.profile_memory && !wanted.geometry) {
    note("which images lie in descriptors is not known, because geometry is off");
  }
  if (wanted.profile_blocks || wanted.profile_branches || wanted.profile_loads || wanted.profile_values) {
    device.counters = std::make_unique<CounterMemory>(device);
  }
  device.shaders = std::make_unique<Shaders>(device);
  device.pipelines = std::make_unique<Pipelines>(device);
  if (wanted.pipeline_facts && !device.statistics) {
    note("pipeline facts: device " + block.name +
         " has no VK_KHR_pipeline_executable_properties: stack sizes are recorded, and no statistics");
  }
  device.instrumented = true;
  block.events_words = device.lazy ? device.event_memory->wanted_words() : device.events_words;
}

}  // namespace

void set_up(Device& device, const DeviceRequest& request, bool with_additions, const VkDeviceCreateInfo& created) {
  if (!open_spool(*device.instance)) {
    return;
  }
  if (request.queries) {
    saw(spool::Sight::RayQueryDevice);
  }
  if (!request.traces) {
    if (request.queries) {
      note(
          "the application made a device with ray queries and without ray-tracing pipelines: ray queries are not "
          "captured");
    } else {
      saw(spool::Sight::DeviceWithoutRays);
      note("the application made a device without ray-tracing pipelines");
    }
    if (!request.counts) {
      return;
    }
    if (!with_additions || !request.enough) {
      note("compute and graphics shaders are not counted: the device " +
           (request.enough ? "refuses what counting needs" : "lacks " + request.lacks));
      return;
    }
  }
  const auto& vk = device.instance->vk;
  device.number = process().next_device++;
  device.swapchain = request.swapchain;
  device.frame_boundary = request.frame_boundary;
  device.has_clock = with_additions && request.clock;
  device.has_sm = with_additions && request.sm;
  device.has_ballot = with_additions && request.ballot;
  device.statistics = with_additions && request.statistics;
  std::uint32_t count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(device.physical, &count, nullptr);
  device.families.resize(count);
  vk.GetPhysicalDeviceQueueFamilyProperties(device.physical, &count, device.families.data());
  vk.GetPhysicalDeviceMemoryProperties(device.physical, &device.memory);
  auto block = describe(device);
  find_queues(device, created);
  if (!attempt("preparing a device", [&] { prepare(device, request, with_additions, created, block); })) {
    device.records = device.instrumented = false;
  }
  if (!device.instrumented) {
    take_down(device);
  }
  spool_block(block);
}

void take_down(Device& device) noexcept {
  if (device.submissions) {
    device.submissions->finish();
  }
  std::unordered_map<VkCommandBuffer, KnownCommands> recordings;
  {
    const std::scoped_lock lock(device.recordings_mutex);
    recordings.swap(device.recordings);
  }
  recordings.clear();
  if (device.counted) {
    device.counted->finish();
  }
  device.counted.reset();
  device.work_counters.reset();
  device.submissions.reset();
  device.pipelines.reset();
  device.patcher.reset();
  device.shaders.reset();
  device.counters.reset();
  device.geometry.reset();
  device.timestamps.reset();
  device.readback.reset();
  device.free(device.swizzle);
  device.free(device.ray_flags);
  device.event_memory.reset();
}

}  // namespace rayreplay::layer
