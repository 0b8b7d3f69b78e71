// An intercepted command: the layer's function, and the dispatch table's member for the next one.
//
// Contract: `intercept<body, &DeviceDispatch::Member>(name)` is one row of a table. The application calls a wrapper of
// `body`, which alone looks up the device: calls of unobserved devices are passed on, unknown devices give an error,
// and no exception of `body` reaches the application. `body` runs for instrumented devices only; it passes the
// application's call on exactly once, unchanged where possible. `passes_on`: whether the device has the next function;
// without it the device does not get the layer's function either (but see `keep`).
#pragma once

#include <exception>

#include <vulkan/vulkan.h>

#include "capture/layer/device/device.hpp"

namespace rayreplay::layer {

struct Intercept {
  const char* name;  ///< "vkCreateBuffer"; core and extension names have a row each
  PFN_vkVoidFunction function;
  bool (*passes_on)(const DeviceDispatch&);
  /// Keeps the instance-level function of the next layer. The layer's function is then also given to devices that lack
  /// the next one.
  void (*keep)(Instance&, PFN_vkVoidFunction next);
};

template <auto Body, auto Member>
struct Guarded;

template <typename Result, typename Handle, typename... Arguments, Result (*Body)(Device&, Handle, Arguments...),
          auto Member>
struct Guarded<Body, Member> {
  using Passed = Next<Result(VKAPI_PTR*)(Handle, Arguments...)>;
  static_assert(std::is_same_v<decltype(Member), Passed DeviceDispatch::*>, "another command's member");

  static VKAPI_ATTR Result VKAPI_CALL call(Handle handle, Arguments... arguments) {
    Device* device = device_of(handle);
    if (device == nullptr) {
      return not_passed_on<Result>(VK_ERROR_INITIALIZATION_FAILED);
    }
    if (!(device->vk.*Member) && device->instance != nullptr) {
      (device->vk.*Member).fall_back((device->instance->for_devices.*Member).fallback());
    }
    if (!device->instrumented) {
      return (device->vk.*Member)(handle, arguments...);
    }
    // Thread cancellation also unwinds, and must not be caught.
    try {
      return Body(*device, handle, arguments...);
    } catch (const std::exception&) {
      return not_passed_on<Result>(VK_ERROR_OUT_OF_HOST_MEMORY);
    }
  }
};

template <auto Body, auto Member>
Intercept intercept(const char* name) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(&Guarded<Body, Member>::call),
          [](const DeviceDispatch& vk) { return static_cast<bool>(vk.*Member); },
          [](Instance& instance, PFN_vkVoidFunction next) {
            using Passed = std::remove_reference_t<decltype(instance.for_devices.*Member)>;
            (instance.for_devices.*Member).fall_back(reinterpret_cast<typename Passed::Pointer>(next));
          }};
}

}  // namespace rayreplay::layer
