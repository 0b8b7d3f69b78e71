#include "capture/layer/device/device_features.hpp"

#include <algorithm>
#include <cstring>

namespace rayreplay::layer {
namespace {

bool contains(const std::vector<const char*>& names, const char* name) {
  return std::any_of(names.begin(), names.end(), [name](const char* other) { return std::strcmp(other, name) == 0; });
}

/// VK_EXT_ray_tracing_invocation_reorder, newer than the headers that we build with. Its structure of features has the
/// members of NVIDIA's.
constexpr const char* kReorderEXT = "VK_EXT_ray_tracing_invocation_reorder";
constexpr auto kReorderFeaturesEXT = static_cast<VkStructureType>(1000581000);

/// Compares the device's features with the required ones and extends the request.
class Extender {
 public:
  Extender(const Instance& instance, VkPhysicalDevice physical, DeviceRequest& request)
      : request_(request), chain_(*request.chain) {
    VkPhysicalDeviceProperties properties{};
    instance.vk.GetPhysicalDeviceProperties(physical, &properties);
    version_ = std::min(instance.api_version, properties.apiVersion);
    std::uint32_t count = 0;
    instance.vk.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
    available_.resize(count);
    instance.vk.EnumerateDeviceExtensionProperties(physical, nullptr, &count, available_.data());
    available_.resize(count);
    query(instance, physical);
  }

  void run() {
    if (!int64() || !addresses() || !atomics()) {
      return;
    }
    memory_model();
    request_.clock = optional_feature<VkPhysicalDeviceShaderClockFeaturesKHR>(
        VK_KHR_SHADER_CLOCK_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR,
        &VkPhysicalDeviceShaderClockFeaturesKHR::shaderDeviceClock, clock_.shaderDeviceClock);
    request_.sm = optional_feature<VkPhysicalDeviceShaderSMBuiltinsFeaturesNV>(
        VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_FEATURES_NV,
        &VkPhysicalDeviceShaderSMBuiltinsFeaturesNV::shaderSMBuiltins, sm_.shaderSMBuiltins);
    if (available(VK_EXT_SHADER_SUBGROUP_BALLOT_EXTENSION_NAME)) {
      extension(VK_EXT_SHADER_SUBGROUP_BALLOT_EXTENSION_NAME);
      request_.ballot = true;
    }
    if (options().insert_ser) {
      reordering();
    }
    if (request_.counts && options().profile_graphics) {
      request_.vertex_stores = core_feature(&VkPhysicalDeviceFeatures::vertexPipelineStoresAndAtomics);
      request_.fragment_stores = core_feature(&VkPhysicalDeviceFeatures::fragmentStoresAndAtomics);
    }
    if (options().pipeline_facts) {
      request_.statistics = optional_feature<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR>(
          VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
          &VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR::pipelineExecutableInfo,
          executables_.pipelineExecutableInfo);
    }
    request_.enough = true;
  }

 private:
  [[nodiscard]] bool available(const char* name) const {
    return std::any_of(available_.begin(), available_.end(),
                       [name](const auto& extension) { return std::strcmp(extension.extensionName, name) == 0; });
  }

  void query(const Instance& instance, VkPhysicalDevice physical) {
    VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
    const auto chain = [&all](auto& structure) {
      structure.pNext = all.pNext;
      all.pNext = &structure;
    };
    chain(addresses_);
    chain(atomics_);
    chain(memory_model_);
    if (available(VK_KHR_SHADER_CLOCK_EXTENSION_NAME)) {
      chain(clock_);
    }
    if (available(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
      chain(sm_);
    }
    if (available(VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME)) {
      chain(reorder_);
    }
    if (available(kReorderEXT)) {
      chain(reorder_ext_);
    }
    if (available(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)) {
      chain(executables_);
    }
    instance.vk.GetPhysicalDeviceFeatures2(physical, &all);
    core_ = all.features;
  }

  bool lacking(const char* what) {
    request_.lacks = what;
    return false;
  }

  void extension(const char* name) {
    if (!contains(request_.extensions, name)) {
      request_.extensions.push_back(name);
    }
  }

  bool int64() {
    if (core_.shaderInt64 == VK_FALSE) {
      return lacking("shaderInt64");
    }
    return core_feature(&VkPhysicalDeviceFeatures::shaderInt64) || lacking("shaderInt64, behind an unknown structure");
  }

  /// False: the device lacks it, or its structure cannot be changed.
  bool core_feature(VkBool32 VkPhysicalDeviceFeatures::*member) {
    if (core_.*member == VK_FALSE) {
      return false;
    }
    constexpr auto kType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    if (auto* features = chain_.find<VkPhysicalDeviceFeatures2>(kType)) {
      features->features.*member = VK_TRUE;
    } else if (const auto* tail = static_cast<const VkPhysicalDeviceFeatures2*>(chain_.find_tail(kType))) {
      return tail->features.*member == VK_TRUE;
    } else {
      request_.features.*member = VK_TRUE;
      request_.info.pEnabledFeatures = &request_.features;
    }
    return true;
  }

  bool addresses() {
    if (addresses_.bufferDeviceAddress == VK_FALSE) {
      return lacking("bufferDeviceAddress");
    }
    return core12(&VkPhysicalDeviceVulkan12Features::bufferDeviceAddress,
                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
                  &VkPhysicalDeviceBufferDeviceAddressFeatures::bufferDeviceAddress,
                  VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME) ||
           lacking("bufferDeviceAddress, behind an unknown structure");
  }

  bool atomics() {
    if (atomics_.shaderBufferInt64Atomics == VK_FALSE) {
      return lacking("shaderBufferInt64Atomics");
    }
    return core12(&VkPhysicalDeviceVulkan12Features::shaderBufferInt64Atomics,
                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
                  &VkPhysicalDeviceShaderAtomicInt64Features::shaderBufferInt64Atomics,
                  VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME) ||
           lacking("shaderBufferInt64Atomics, behind an unknown structure");
  }

  /// NVIDIA's extension first: drivers have had it for longer.
  void reordering() {
    constexpr auto kMember = &VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV::rayTracingInvocationReorder;
    if (optional_feature(VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME, reorder_.sType, kMember,
                         reorder_.rayTracingInvocationReorder)) {
      request_.reorder = instrument::HitObjectForm::NV;
    } else if (optional_feature(kReorderEXT, kReorderFeaturesEXT, kMember, reorder_ext_.rayTracingInvocationReorder)) {
      request_.reorder = instrument::HitObjectForm::EXT;
    }
    request_.float64 = options().ser_hint && request_.reorder && core_feature(&VkPhysicalDeviceFeatures::shaderFloat64);
  }

  /// Shaders of an application that uses the Vulkan memory model need its device scope for our atomics.
  void memory_model() {
    if (memory_model_.vulkanMemoryModelDeviceScope == VK_FALSE) {
      return;
    }
    if (auto* core =
            chain_.find<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)) {
      core->vulkanMemoryModelDeviceScope |= core->vulkanMemoryModel;
    } else if (auto* own = chain_.find<VkPhysicalDeviceVulkanMemoryModelFeatures>(
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES)) {
      own->vulkanMemoryModelDeviceScope |= own->vulkanMemoryModel;
    }
  }

  template <typename Own>
  bool core12(VkBool32 VkPhysicalDeviceVulkan12Features::*member, VkStructureType type, VkBool32 Own::*own,
              const char* name) {
    constexpr auto kCore = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    if (chain_.has(kCore)) {
      return chain_.enable(kCore, member);
    }
    if (version_ < VK_API_VERSION_1_2 && !contains(request_.extensions, name)) {
      if (!available(name)) {
        return false;
      }
      extension(name);
    }
    return chain_.enable(type, own);
  }

  template <typename Own>
  bool optional_feature(const char* name, VkStructureType type, VkBool32 Own::*member, VkBool32 supported) {
    if (supported == VK_FALSE || !chain_.enable(type, member)) {
      return false;
    }
    extension(name);
    return true;
  }

  DeviceRequest& request_;
  FeatureChain& chain_;
  std::uint32_t version_ = VK_API_VERSION_1_0;
  std::vector<VkExtensionProperties> available_;
  VkPhysicalDeviceFeatures core_{};
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses_{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, nullptr, 0, 0, 0};
  VkPhysicalDeviceShaderAtomicInt64Features atomics_{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
                                                     nullptr, 0, 0};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, nullptr, 0, 0, 0};
  VkPhysicalDeviceShaderClockFeaturesKHR clock_{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR, nullptr, 0,
                                                0};
  VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV reorder_{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_INVOCATION_REORDER_FEATURES_NV, nullptr, 0};
  VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV reorder_ext_{kReorderFeaturesEXT, nullptr, 0};
  VkPhysicalDeviceShaderSMBuiltinsFeaturesNV sm_{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_FEATURES_NV,
                                                 nullptr, 0};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables_{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, nullptr, 0};
};

}  // namespace

std::unique_ptr<DeviceRequest> extend_request(const Instance& instance, VkPhysicalDevice physical,
                                              const VkDeviceCreateInfo& asked) {
  auto request = std::make_unique<DeviceRequest>();
  request->info = asked;
  request->extensions.assign(asked.ppEnabledExtensionNames,
                             asked.ppEnabledExtensionNames + asked.enabledExtensionCount);
  request->traces = contains(request->extensions, VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME);
  request->queries = contains(request->extensions, VK_KHR_RAY_QUERY_EXTENSION_NAME);
  request->swapchain = contains(request->extensions, VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  request->frame_boundary = contains(request->extensions, "VK_EXT_frame_boundary");
  const auto& wanted = options();
  request->counts = (wanted.profile_compute || wanted.profile_graphics) &&
                    (wanted.profile_blocks || wanted.profile_branches || wanted.profile_loads || wanted.profile_values);
  if (!request->observed()) {
    return request;
  }
  if (asked.pEnabledFeatures != nullptr) {
    request->features = *asked.pEnabledFeatures;
  }
  request->chain = std::make_unique<FeatureChain>(asked.pNext);
  if (instance.vk.GetPhysicalDeviceFeatures2 == nullptr) {
    request->lacks = "vkGetPhysicalDeviceFeatures2";
    return request;
  }
  Extender(instance, physical, *request).run();
  request->info.pNext = request->chain->head();
  request->info.enabledExtensionCount = static_cast<std::uint32_t>(request->extensions.size());
  request->info.ppEnabledExtensionNames = request->extensions.data();
  return request;
}

}  // namespace rayreplay::layer
