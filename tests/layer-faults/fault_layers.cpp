// Two Vulkan layers for tests, to be loaded around the capture layer: the upper one sees the application's calls, the
// lower one what comes out below. The lower one lets the call that the plan names fail once, without passing it on, and
// says whether it was the application's (the upper one is inside that very call) or the capture layer's own.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <tuple>

#include "tests/layer-faults/commands.hpp"
#include "tests/layer-faults/plan.hpp"

namespace rayreplay::test {
namespace {

Plan& plan() {
  static Plan none;
  static Plan* mapped = map_plan(std::getenv(kPlanVariable));
  return mapped != nullptr ? *mapped : none;
}

constexpr std::size_t kCommands = static_cast<std::size_t>(Command::Count);

/// The application's call that this thread is in.
struct Current {
  Command command = Command::Count;
  const void* identity = nullptr;
  std::uint64_t number = 0;
};
thread_local Current current;
std::array<std::atomic<std::uint64_t>, kCommands> application_calls{};

template <typename Argument>
const void* identity_of(Argument argument) {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<const void*>(argument);
  } else {
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(argument));
  }
}

/// Lower: whether this call is the one to fail.
bool fails(Command command, const void* identity) {
  auto& p = plan();
  const bool applications = current.command == command && current.identity == identity;
  const bool by_number = ++p.calls == p.call;
  const bool by_application = applications && p.application_call == current.number &&
                              p.command == static_cast<std::uint32_t>(command) && p.application_call != 0;
  const bool by_own = !applications && p.own_call != 0 && p.command == static_cast<std::uint32_t>(command) &&
                      ++p.own_calls == p.own_call;
  if ((!by_number && !by_application && !by_own) || p.failed.exchange(1) != 0) {
    return false;
  }
  p.failed_command = static_cast<std::uint32_t>(command);
  p.failed_as = applications ? current.number : 0;
  return true;
}

/// Upper: inside the application's call for as long as this lives.
class Inside {
 public:
  Inside(Command command, const void* identity) : outer_(current) {
    current = {command, identity, ++application_calls.at(static_cast<std::size_t>(command))};
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    current = outer_;
  }

 private:
  Current outer_;
};

/// One of the two layers.
template <bool Upper>
struct Layer {
  struct Next {
    PFN_vkGetInstanceProcAddr instance_proc = nullptr;
    PFN_vkGetDeviceProcAddr device_proc = nullptr;
    VkInstance instance = VK_NULL_HANDLE;
    std::array<PFN_vkVoidFunction, kCommands> functions{};
  };
  inline static std::shared_mutex mutex;
  inline static std::map<const void*, Next> known;

  static Next next_of(const void* object) {
    const std::shared_lock lock(mutex);
    const auto found = known.find(*static_cast<const void* const*>(object));
    return found == known.end() ? Next{} : found->second;
  }
  static void keep(const void* object, const Next& next) {
    const std::scoped_lock lock(mutex);
    known[*static_cast<const void* const*>(object)] = next;
  }

  /// Passes a call on, or lets it fail.
  template <typename Call>
  static VkResult pass(Command command, const void* identity, VkResult error, const Call& call) {
    if constexpr (Upper) {
      const Inside inside(command, identity);
      return call();
    } else {
      return fails(command, identity) ? error : call();
    }
  }

  template <Command Name, std::size_t Argument, VkResult Error, typename Function>
  struct Wrapped;
  template <Command Name, std::size_t Argument, VkResult Error, typename... Arguments>
  struct Wrapped<Name, Argument, Error, VkResult(VKAPI_PTR*)(Arguments...)> {
    static VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
      const auto all = std::make_tuple(arguments...);
      const auto next = reinterpret_cast<VkResult(VKAPI_PTR*)(Arguments...)>(
          next_of(std::get<0>(all)).functions.at(static_cast<std::size_t>(Name)));
      return pass(Name, identity_of(std::get<Argument>(all)), Error, [&] { return next(arguments...); });
    }
  };

  template <typename Info>
  static Info* link_of(const void* chain, VkStructureType type) {
    for (auto* at = static_cast<Info*>(const_cast<void*>(chain)); at != nullptr;
         at = static_cast<Info*>(const_cast<void*>(at->pNext))) {
      if (at->sType == type && at->function == VK_LAYER_LINK_INFO) {
        return at;
      }
    }
    return nullptr;
  }

  static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                        const VkAllocationCallbacks* allocator, VkInstance* handle) {
    auto* link = link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    Next next;
    next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(next.instance_proc(VK_NULL_HANDLE, "vkCreateInstance"));
    const auto result = pass(Command::CreateInstance, identity_of(handle), VK_ERROR_OUT_OF_HOST_MEMORY,
                             [&] { return create(info, allocator, handle); });
    if (result == VK_SUCCESS) {
      next.instance = *handle;
      next.functions.at(static_cast<std::size_t>(Command::EnumerateDeviceExtensionProperties)) =
          next.instance_proc(*handle, "vkEnumerateDeviceExtensionProperties");
      keep(*handle, next);
    }
    return result;
  }

  static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkDevice* handle) {
    auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    Next next = next_of(physical);
    next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(next.instance_proc(next.instance, "vkCreateDevice"));
    const auto result = pass(Command::CreateDevice, identity_of(handle), VK_ERROR_INITIALIZATION_FAILED,
                             [&] { return create(physical, info, allocator, handle); });
    if (result == VK_SUCCESS) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(Command::CreateInstance); ++i) {
        next.functions.at(i) = next.device_proc(*handle, kCommandNames[i]);
      }
      keep(*handle, next);
    }
    return result;
  }

  static PFN_vkVoidFunction wrapped(std::string_view name) {
#define X(command, argument, error)                                                                                 \
  if (name == "vk" #command) {                                                                                      \
    return reinterpret_cast<PFN_vkVoidFunction>(Wrapped<Command::command, argument, error, PFN_vk##command>::call); \
  }
    RR_FAULT_COMMANDS(X)
#undef X
    return nullptr;
  }

  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    if (std::string_view(name) == "vkGetDeviceProcAddr") {
      return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
    }
    const auto next = next_of(device).device_proc(device, name);
    const auto own = next == nullptr ? nullptr : wrapped(name);
    return own != nullptr ? own : next;
  }

  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
    const std::string_view wanted(name);
    if (wanted == "vkGetInstanceProcAddr") {
      return reinterpret_cast<PFN_vkVoidFunction>(instance_proc);
    }
    if (wanted == "vkCreateInstance") {
      return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
    }
    if (wanted == "vkCreateDevice") {
      return reinterpret_cast<PFN_vkVoidFunction>(create_device);
    }
    if (wanted == "vkGetDeviceProcAddr") {
      return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
    }
    if (wanted == "vkEnumerateDeviceExtensionProperties" && instance != VK_NULL_HANDLE) {
      return reinterpret_cast<PFN_vkVoidFunction>(
          Wrapped<Command::EnumerateDeviceExtensionProperties, 2, VK_ERROR_OUT_OF_HOST_MEMORY,
                  PFN_vkEnumerateDeviceExtensionProperties>::call);
    }
    return instance == VK_NULL_HANDLE ? nullptr : next_of(instance).instance_proc(instance, name);
  }

  static VkResult negotiate(VkNegotiateLayerInterface* interface) {
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_proc;
    interface->pfnGetDeviceProcAddr = device_proc;
    interface->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
  }
};

}  // namespace
}  // namespace rayreplay::test

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_upper(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::Layer<true>::negotiate(interface);
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_lower(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::Layer<false>::negotiate(interface);
}

}  // extern "C"
