#include "kernels/device/device_list.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/device/device_facts.hpp"
#include "kernels/device/instance.hpp"

namespace rayreplay::kernels {
namespace {

DeviceType type_of(vk::PhysicalDeviceType type) {
  switch (type) {
    case vk::PhysicalDeviceType::eIntegratedGpu:
      return DeviceType::Integrated;
    case vk::PhysicalDeviceType::eDiscreteGpu:
      return DeviceType::Discrete;
    case vk::PhysicalDeviceType::eVirtualGpu:
      return DeviceType::Virtual;
    case vk::PhysicalDeviceType::eCpu:
      return DeviceType::Cpu;
    default:
      return DeviceType::Other;
  }
}

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

/// Required by all kernels; some need more (Needs).
std::string missing_subgroup_operations(const vk::PhysicalDeviceVulkan11Properties& properties) {
  if (!(properties.subgroupSupportedStages & vk::ShaderStageFlagBits::eCompute)) {
    return "subgroup operations in compute shaders";
  }
  std::string missing;
  const std::vector<std::pair<vk::SubgroupFeatureFlagBits, const char*>> needed = {
      {vk::SubgroupFeatureFlagBits::eBasic, "basic"},           {vk::SubgroupFeatureFlagBits::eVote, "vote"},
      {vk::SubgroupFeatureFlagBits::eBallot, "ballot"},         {vk::SubgroupFeatureFlagBits::eShuffle, "shuffle"},
      {vk::SubgroupFeatureFlagBits::eArithmetic, "arithmetic"},
  };
  for (const auto& [bit, name] : needed) {
    if (!(properties.subgroupSupportedOperations & bit)) {
      missing += fmt::format("{}subgroup {}", missing.empty() ? "" : ", ", name);
    }
  }
  return missing;
}

void find_families(const vk::raii::PhysicalDevice& physical, DeviceFacts& facts) {
  const std::vector<vk::QueueFamilyProperties> families = physical.getQueueFamilyProperties();
  for (std::uint32_t i = 0; i < families.size(); ++i) {
    const vk::QueueFlags flags = families[i].queueFlags;
    if (flags & vk::QueueFlagBits::eCompute) {
      // Prefers a family without graphics: its queues do not wait for a desktop's frames.
      const bool alone = !(flags & vk::QueueFlagBits::eGraphics);
      const bool first = !facts.compute_family;
      const bool better =
          !first && alone && (families[*facts.compute_family].queueFlags & vk::QueueFlagBits::eGraphics);
      if (first || better) {
        facts.compute_family = i;
        facts.has_timestamps = families[i].timestampValidBits > 0;
        facts.info.sparse = static_cast<bool>(flags & vk::QueueFlagBits::eSparseBinding);
      }
    } else if (flags & vk::QueueFlagBits::eTransfer && !facts.transfer_family) {
      facts.transfer_family = i;
    }
  }
}

void add_missing(std::string& list, bool has, std::string_view name) {
  if (!has) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
}

void read_features(const vk::raii::PhysicalDevice& physical, bool has_1_3, DeviceFacts& facts,
                   const vk::PhysicalDeviceVulkan11Properties& properties11) {
  using vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan11Features, vk::PhysicalDeviceVulkan12Features;
  const auto chain =
      physical.getFeatures2<PhysicalDeviceFeatures2, PhysicalDeviceVulkan11Features, PhysicalDeviceVulkan12Features>();
  const auto& core = chain.get<PhysicalDeviceFeatures2>().features;
  const auto& v11 = chain.get<PhysicalDeviceVulkan11Features>();
  const auto& v12 = chain.get<PhysicalDeviceVulkan12Features>();
  std::string missing;
  add_missing(missing, facts.compute_family.has_value(), "a compute queue");
  add_missing(missing, core.shaderInt64 != 0, "64-bit integers (shaderInt64)");
  add_missing(missing, core.shaderInt16 != 0, "16-bit integers (shaderInt16)");
  add_missing(missing, v12.shaderInt8 != 0, "8-bit integers (shaderInt8)");
  add_missing(missing, v12.storageBuffer8BitAccess != 0, "storageBuffer8BitAccess");
  add_missing(missing, v11.storageBuffer16BitAccess != 0, "storageBuffer16BitAccess");
  add_missing(missing, v12.bufferDeviceAddress != 0, "bufferDeviceAddress");
  add_missing(missing, v12.scalarBlockLayout != 0, "scalarBlockLayout");
  add_missing(missing, v12.timelineSemaphore != 0, "timelineSemaphore");
  const std::string subgroups = missing_subgroup_operations(properties11);
  add_missing(missing, subgroups.empty(), subgroups);
  facts.info.unfit = missing.empty() ? "" : "it lacks " + missing;
  facts.info.has.float64 = core.shaderFloat64 != 0;
  facts.info.has.int64_atomics = v12.shaderBufferInt64Atomics != 0;
  facts.info.sparse = facts.info.sparse && core.sparseBinding != 0;
  if (has_1_3) {
    const auto chain13 = physical.getFeatures2<PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan13Features>();
    const auto& v13 = chain13.get<vk::PhysicalDeviceVulkan13Features>();
    facts.has_subgroup_size_control = v13.subgroupSizeControl != 0 && v13.computeFullSubgroups != 0;
  }
}

void read_memory(const vk::raii::PhysicalDevice& physical, DeviceInfo& info) {
  const vk::PhysicalDeviceMemoryProperties memory = physical.getMemoryProperties();
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if (memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) {
      info.memory_bytes = std::max<std::uint64_t>(info.memory_bytes, memory.memoryHeaps[i].size);
    }
  }
}

}  // namespace

DeviceFacts facts_of(const vk::raii::PhysicalDevice& physical, std::uint32_t index) {
  DeviceFacts facts;
  DeviceInfo& info = facts.info;
  info.index = index;
  const vk::PhysicalDeviceProperties core = physical.getProperties();
  info.name = core.deviceName.data();
  info.type = type_of(core.deviceType);
  info.api = version_text(core.apiVersion);
  info.most_group_threads = core.limits.maxComputeWorkGroupInvocations;
  info.shared_bytes = core.limits.maxComputeSharedMemorySize;
  facts.most_groups = core.limits.maxComputeWorkGroupCount[0];
  facts.timestamp_ns = static_cast<double>(core.limits.timestampPeriod);
  std::copy(core.pipelineCacheUUID.begin(), core.pipelineCacheUUID.end(), facts.cache_uuid.begin());
  info.host_memory = info.type == DeviceType::Integrated || info.type == DeviceType::Cpu;
  read_memory(physical, info);
  find_families(physical, facts);
  if (core.apiVersion < VK_API_VERSION_1_2) {
    info.unfit = "it has Vulkan " + info.api + ", and 1.2 is needed";
    return facts;
  }
  const bool has_1_3 = core.apiVersion >= VK_API_VERSION_1_3;
  const auto chain = physical.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan11Properties,
                                             vk::PhysicalDeviceVulkan12Properties>();
  const auto& v11 = chain.get<vk::PhysicalDeviceVulkan11Properties>();
  const auto& v12 = chain.get<vk::PhysicalDeviceVulkan12Properties>();
  for (const std::uint8_t byte : v11.deviceUUID) {
    info.uuid += fmt::format("{:02x}", byte);
  }
  info.driver = fmt::format("{} {}", v12.driverName.data(), v12.driverInfo.data());
  info.subgroup_size = info.least_subgroup = info.greatest_subgroup = v11.subgroupSize;
  info.most_allocation = info.most_buffer = v11.maxMemoryAllocationSize;
  if (has_1_3) {
    const auto chain13 = physical.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan13Properties>();
    const auto& v13 = chain13.get<vk::PhysicalDeviceVulkan13Properties>();
    info.most_buffer = v13.maxBufferSize;
    if (v13.requiredSubgroupSizeStages & vk::ShaderStageFlagBits::eCompute) {
      info.least_subgroup = v13.minSubgroupSize;
      info.greatest_subgroup = v13.maxSubgroupSize;
    }
  }
  read_features(physical, has_1_3, facts, v11);
  if (!facts.has_subgroup_size_control) {
    info.least_subgroup = info.greatest_subgroup = info.subgroup_size;
  }
  for (const vk::ExtensionProperties& extension : physical.enumerateDeviceExtensionProperties()) {
    facts.has_memory_budget = facts.has_memory_budget ||
                              std::string_view(extension.extensionName.data()) == VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
  }
  return facts;
}

std::vector<DeviceInfo> list_devices() {
  const std::vector<vk::raii::PhysicalDevice> physical = physical_devices();
  std::vector<DeviceInfo> result;
  for (const vk::raii::PhysicalDevice& device : physical) {
    result.push_back(facts_of(device, static_cast<std::uint32_t>(result.size())).info);
  }
  return result;
}

}  // namespace rayreplay::kernels
