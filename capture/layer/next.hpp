// A function of the next layer or driver.
//
// Contract: never jumps to address 0. If the device lacks the function (its extension is not enabled), a call goes to
// the instance-level function of the next layer (`fall_back`): the loader returns such functions for extensions that no
// device enabled, and they can be called safely. Without either, the call does nothing and returns an error. `operator
// bool` tests the device's own function: only that one may be used for the layer's own calls. Calls and fall_back() may
// come from several threads concurrently.
#pragma once

#include <atomic>
#include <type_traits>

#include <vulkan/vulkan.h>

namespace rayreplay::layer {

/// The result of a call that cannot be passed on.
template <typename Result>
Result not_passed_on(VkResult error) noexcept {
  if constexpr (std::is_same_v<Result, VkResult>) {
    return error;
  } else if constexpr (!std::is_void_v<Result>) {
    return Result{};
  }
}

template <typename Function>
class Next;

template <typename Result, typename... Arguments>
class Next<Result(VKAPI_PTR*)(Arguments...)> {
 public:
  using Pointer = Result(VKAPI_PTR*)(Arguments...);

  Next& operator=(Pointer of_device) {
    of_device_ = of_device;
    return *this;
  }
  void set(PFN_vkVoidFunction of_device) {
    of_device_ = reinterpret_cast<Pointer>(of_device);
  }
  void fall_back(Pointer of_instance) {
    of_instance_ = of_instance;
  }
  [[nodiscard]] Pointer fallback() const {
    return of_instance_;
  }
  explicit operator bool() const {
    return of_device_ != nullptr;
  }
  Result operator()(Arguments... arguments) const {
    if (of_device_ != nullptr) {
      return of_device_(arguments...);
    }
    if (const Pointer of_instance = of_instance_) {
      return of_instance(arguments...);
    }
    return not_passed_on<Result>(VK_ERROR_EXTENSION_NOT_PRESENT);
  }

 private:
  Pointer of_device_ = nullptr;
  std::atomic<Pointer> of_instance_{nullptr};
};

}  // namespace rayreplay::layer
