// A Vulkan layer for tests, to be loaded below the capture layer: a device without VK_NV_ray_tracing_invocation_reorder
// says that it has it (with RAYREPLAY_TEST_HIT_OBJECTS=ext: VK_EXT_ray_tracing_invocation_reorder). A device that was
// made with the extension and its feature takes shader modules with inserted hit objects, which then run as
// undone_reordering.hpp says; any other device refuses such modules.
#include <cstdlib>
#include <string>
#include <string_view>

#include "capture/spirv/module.hpp"
#include "tests/instrument/support/undone_reordering.hpp"
#include "tests/support/test_layer.hpp"

namespace rayreplay::test {
namespace {

/// VkPhysicalDeviceRayTracingInvocationReorderFeaturesEXT, which the headers do not have.
constexpr auto kFeaturesExt = static_cast<VkStructureType>(1000581000);

bool is_ext() {
  const char* form = std::getenv("RAYREPLAY_TEST_HIT_OBJECTS");
  return form != nullptr && std::string_view(form) == "ext";
}
const char* const kExtension =
    is_ext() ? "VK_EXT_ray_tracing_invocation_reorder" : VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME;
const VkStructureType kFeatures =
    is_ext() ? kFeaturesExt : VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_INVOCATION_REORDER_FEATURES_NV;
const auto kCapability = is_ext() ? static_cast<spv::Capability>(5388) : spv::Capability::ShaderInvocationReorderNV;

struct Next : Below {
  bool reorders = false;
};

/// The structure of the chain before the one with the feature's switch; null: there is none.
VkBaseOutStructure* before_features(const void* start) {
  for (auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(start)); at != nullptr; at = at->pNext) {
    if (at->pNext != nullptr && at->pNext->sType == kFeatures) {
      return at;
    }
  }
  return nullptr;
}

struct HitObjectsLayer : TestLayer<HitObjectsLayer, Next> {
  static VkResult make_device(Next& next, VkPhysicalDevice physical, const VkDeviceCreateInfo* given,
                              const VkAllocationCallbacks* allocator, VkDevice* handle) {
    // The driver below knows neither the extension nor its features.
    VkDeviceCreateInfo info = *given;
    const auto names = names_without(kExtension, *given);
    info.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
    info.ppEnabledExtensionNames = names.data();
    auto* before = before_features(&info);
    VkBaseOutStructure* own = before == nullptr ? nullptr : before->pNext;
    if (own != nullptr) {
      next.reorders =
          names.size() < given->enabledExtensionCount &&
          reinterpret_cast<VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV*>(own)->rayTracingInvocationReorder ==
              VK_TRUE;
      before->pNext = own->pNext;
    }
    const auto result = next.create_device(physical, &info, allocator, handle);
    if (own != nullptr) {
      before->pNext = own;
    }
    return result;
  }

  static VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice physical, const char* layer, std::uint32_t* count,
                                                   VkExtensionProperties* to) {
    return give_extensions_and(kExtension, below(physical), physical, layer, count, to);
  }

  static VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* all) {
    auto* before = before_features(all);
    VkBaseOutStructure* own = before == nullptr ? nullptr : before->pNext;
    if (own != nullptr) {
      before->pNext = own->pNext;
    }
    below(physical).features(physical, all);
    if (own != nullptr) {
      before->pNext = own;
      reinterpret_cast<VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV*>(own)->rayTracingInvocationReorder =
          VK_TRUE;
    }
  }

  static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkShaderModule* module) {
    const Next next = below(device);
    const auto create = next.of_device<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule");
    Words words(info->pCode, info->pCode + info->codeSize / 4);
    std::string reason;
    const auto parsed = spirv::parse(words, reason);
    if (!parsed || !parsed->has(kCapability)) {
      return create(device, info, allocator, module);
    }
    if (!next.reorders) {
      return VK_ERROR_INITIALIZATION_FAILED;
    }
    words = undone_reordering(is_ext() ? with_nv_hit_objects(words) : words);
    VkShaderModuleCreateInfo changed = *info;
    changed.pCode = words.data();
    changed.codeSize = words.size() * 4;
    return create(device, &changed, allocator, module);
  }

  static PFN_vkVoidFunction device_function(const Next&, std::string_view name, PFN_vkVoidFunction given) {
    return name == "vkCreateShaderModule" ? as_void(create_module) : given;
  }

  static PFN_vkVoidFunction instance_function(std::string_view name) {
    if (name == "vkEnumerateDeviceExtensionProperties") {
      return as_void(extensions);
    }
    if (name == "vkGetPhysicalDeviceFeatures2" || name == "vkGetPhysicalDeviceFeatures2KHR") {
      return as_void(features);
    }
    return nullptr;
  }
};

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_hit_objects(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::HitObjectsLayer::negotiate(interface);
}
