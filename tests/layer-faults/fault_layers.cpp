// Two Vulkan layers for tests, to be loaded around the capture layer: the upper one sees the application's calls, the
// lower one what comes out below. The lower one lets the call that the plan names fail once, without passing it on, and
// says whether it was the application's (the upper one is inside that very call) or the capture layer's own.
#include <array>
#include <string_view>
#include <tuple>

#include "tests/layer-faults/commands.hpp"
#include "tests/layer-faults/plan.hpp"
#include "tests/support/test_layer.hpp"

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

struct Next : Below {
  std::array<PFN_vkVoidFunction, kCommands> functions{};
};

/// One of the two layers.
template <bool Upper>
struct FaultLayer : TestLayer<FaultLayer<Upper>, Next> {
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
          FaultLayer::below(std::get<0>(all)).functions.at(static_cast<std::size_t>(Name)));
      return pass(Name, identity_of(std::get<Argument>(all)), Error, [&] { return next(arguments...); });
    }
  };

  static VkResult make_instance(PFN_vkCreateInstance create, const VkInstanceCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkInstance* handle) {
    return pass(Command::CreateInstance, identity_of(handle), VK_ERROR_OUT_OF_HOST_MEMORY,
                [&] { return create(info, allocator, handle); });
  }

  static void instance_made(Next& next) {
    next.functions.at(static_cast<std::size_t>(Command::EnumerateDeviceExtensionProperties)) = as_void(next.extensions);
  }

  static VkResult make_device(Next& next, VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkDevice* handle) {
    return pass(Command::CreateDevice, identity_of(handle), VK_ERROR_INITIALIZATION_FAILED,
                [&] { return next.create_device(physical, info, allocator, handle); });
  }

  static void device_made(VkDevice device, Next& next) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(Command::CreateInstance); ++i) {
      next.functions.at(i) = next.device_proc(device, kCommandNames[i]);
    }
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

  static PFN_vkVoidFunction device_function(const Next&, std::string_view name, PFN_vkVoidFunction given) {
    const auto own = given == nullptr ? nullptr : wrapped(name);
    return own != nullptr ? own : given;
  }

  static PFN_vkVoidFunction instance_function(std::string_view name) {
    if (name == "vkEnumerateDeviceExtensionProperties") {
      return as_void(Wrapped<Command::EnumerateDeviceExtensionProperties, 2, VK_ERROR_OUT_OF_HOST_MEMORY,
                             PFN_vkEnumerateDeviceExtensionProperties>::call);
    }
    return nullptr;
  }
};

}  // namespace
}  // namespace rayreplay::test

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_upper(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::FaultLayer<true>::negotiate(interface);
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_lower(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::FaultLayer<false>::negotiate(interface);
}

}  // extern "C"
