#include "kernels/device/device_state.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/device/instance.hpp"

namespace rayreplay::kernels::detail {
namespace {

std::uint32_t memory_type(const vk::PhysicalDeviceMemoryProperties& memory,
                          const std::vector<vk::MemoryPropertyFlags>& wishes, const DeviceInfo& info) {
  for (const vk::MemoryPropertyFlags wish : wishes) {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      if ((memory.memoryTypes[i].propertyFlags & wish) == wish) {
        return i;
      }
    }
  }
  throw DeviceError(Fault::Unsupported, {"the device has no memory of a kind that is needed", info.name, "",
                                         vk::to_string(wishes.back()), ""});
}

vk::raii::Device make_device(const vk::raii::PhysicalDevice& physical, const DeviceFacts& facts) {
  const float priority = 1;
  std::vector<vk::DeviceQueueCreateInfo> queues(1);
  queues[0].queueFamilyIndex = facts.compute_family.value();
  queues[0].queueCount = 1;
  queues[0].pQueuePriorities = &priority;
  if (facts.transfer_family) {
    queues.push_back(queues[0]);
    queues[1].queueFamilyIndex = *facts.transfer_family;
  }
  vk::StructureChain<vk::DeviceCreateInfo, vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan11Features,
                     vk::PhysicalDeviceVulkan12Features, vk::PhysicalDeviceVulkan13Features>
      chain;
  auto& core = chain.get<vk::PhysicalDeviceFeatures2>().features;
  core.shaderInt64 = VK_TRUE;
  core.shaderInt16 = VK_TRUE;
  core.shaderFloat64 = facts.info.has.float64 ? VK_TRUE : VK_FALSE;
  core.sparseBinding = facts.info.sparse ? VK_TRUE : VK_FALSE;
  chain.get<vk::PhysicalDeviceVulkan11Features>().storageBuffer16BitAccess = VK_TRUE;
  auto& v12 = chain.get<vk::PhysicalDeviceVulkan12Features>();
  v12.shaderInt8 = VK_TRUE;
  v12.storageBuffer8BitAccess = VK_TRUE;
  v12.bufferDeviceAddress = VK_TRUE;
  v12.scalarBlockLayout = VK_TRUE;
  v12.timelineSemaphore = VK_TRUE;
  v12.shaderBufferInt64Atomics = facts.info.has.int64_atomics ? VK_TRUE : VK_FALSE;
  if (facts.has_subgroup_size_control) {
    auto& v13 = chain.get<vk::PhysicalDeviceVulkan13Features>();
    v13.subgroupSizeControl = VK_TRUE;
    v13.computeFullSubgroups = VK_TRUE;
  } else {
    chain.unlink<vk::PhysicalDeviceVulkan13Features>();
  }
  std::vector<const char*> extensions;
  if (facts.has_memory_budget) {
    extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  }
  auto& info = chain.get<vk::DeviceCreateInfo>();
  info.setQueueCreateInfos(queues);
  info.setPEnabledExtensionNames(extensions);
  return {physical, info};
}

}  // namespace

DeviceState::DeviceState(const DeviceInfo& wanted, const DeviceOptions& given) : options(given) {
  std::vector<vk::raii::PhysicalDevice> all = physical_devices();
  if (wanted.index >= all.size()) {
    throw DeviceError(Fault::Unsupported, {"there is no such Vulkan device", fmt::format("vulkan:{}", wanted.index), "",
                                           fmt::format("one of {}", all.size()), "see rayreplay devices"});
  }
  physical = std::move(all[wanted.index]);
  facts = facts_of(physical, wanted.index);
  if (!facts.info.unfit.empty()) {
    throw DeviceError(Fault::Unsupported,
                      {"the device cannot run the kernels: " + facts.info.unfit, facts.info.name, "", "", ""});
  }
  // Limits set by the caller, for tests and shared machines.
  facts.info.most_allocation = std::min(facts.info.most_allocation, wanted.most_allocation);
  guard("opening the device", [&] {
    device = make_device(physical, facts);
    compute_queue = device.getQueue(*facts.compute_family, 0);
    if (facts.transfer_family) {
      transfer_queue = device.getQueue(*facts.transfer_family, 0);
    }
    vk::PushConstantRange range;
    range.stageFlags = vk::ShaderStageFlagBits::eCompute;
    range.size = Stream::kMaxPushBytes;
    vk::PipelineLayoutCreateInfo layout_info;
    layout_info.setPushConstantRanges(range);
    layout = vk::raii::PipelineLayout(device, layout_info);
    load_pipeline_cache();
  });
  const vk::PhysicalDeviceMemoryProperties memory = physical.getMemoryProperties();
  using Flag = vk::MemoryPropertyFlagBits;
  device_memory_type = memory_type(memory, {Flag::eDeviceLocal}, facts.info);
  const vk::MemoryPropertyFlags visible = Flag::eHostVisible | Flag::eHostCoherent;
  host_memory_type = memory_type(memory, {visible | Flag::eHostCached, visible}, facts.info);
}

DeviceState::~DeviceState() {
  save_pipeline_cache();
}

void DeviceState::throw_as_device_error(const char* what, const vk::SystemError& error) {
  const auto code = static_cast<vk::Result>(error.code().value());
  if (code == vk::Result::eErrorDeviceLost) {
    lost = true;
    throw DeviceError(Fault::Lost, {fmt::format("the driver lost the device while {}", what), facts.info.name, "", "",
                                    "see the system's log; use --device cpu"});
  }
  if (code == vk::Result::eErrorOutOfDeviceMemory || code == vk::Result::eErrorOutOfHostMemory) {
    throw DeviceError(Fault::Memory, {fmt::format("the device ran out of memory while {}", what), facts.info.name, "",
                                      "", "use --device cpu"});
  }
  throw DeviceError(Fault::Unsupported, {fmt::format("the driver failed while {}", what), facts.info.name, error.what(),
                                         "", "use --device cpu"});
}

void DeviceState::require_alive() const {
  if (lost) {
    throw DeviceError(Fault::Lost, {"the device was lost earlier", facts.info.name, "", "",
                                    "see the system's log; use --device cpu"});
  }
}

void DeviceState::submit(const vk::raii::Queue& queue, const vk::SubmitInfo& info) {
  require_alive();
  if (++submissions == options.lose_at_submission) {
    lost = true;
    throw DeviceError(Fault::Lost, {"the device was lost, on purpose", facts.info.name,
                                    fmt::format("submission {}", submissions), "", ""});
  }
  guard_commands([&] { queue.submit(info); });
}

}  // namespace rayreplay::kernels::detail
