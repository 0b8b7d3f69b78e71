// A Vulkan layer for tests that passes every call on and counts those of functions that the capture layer can call. To
// be loaded below it: what the driver is asked for beyond the application's own calls is the capture layer's doing.
#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "tests/layer-faults/counts.hpp"
#include "tests/layer-faults/plan.hpp"
#include "tests/support/test_layer.hpp"

namespace rayreplay::test {
namespace {

Calls& calls() {
  static Calls none;
  static Calls* mapped = map_shared<Calls>(std::getenv(kCountsVariable));
  return mapped != nullptr ? *mapped : none;
}

struct Next : Below {
  std::array<PFN_vkVoidFunction, kCounted> functions{};
};

struct CountingLayer : TestLayer<CountingLayer, Next> {
  static void device_made(VkDevice device, Next& next);
  static PFN_vkVoidFunction device_function(const Next& next, std::string_view name, PFN_vkVoidFunction given);
};

template <Counted Name, typename Function>
struct Wrapped;
template <Counted Name, typename Result, typename... Arguments>
struct Wrapped<Name, Result(VKAPI_PTR*)(Arguments...)> {
  static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
    constexpr auto kIndex = static_cast<std::size_t>(Name);
    ++calls().of.at(kIndex);
    const auto next = reinterpret_cast<Result(VKAPI_PTR*)(Arguments...)>(
        CountingLayer::below(std::get<0>(std::make_tuple(arguments...))).functions.at(kIndex));
    return next(arguments...);
  }
};

PFN_vkVoidFunction wrapped(Counted name) {
  switch (name) {
#define X(command)       \
  case Counted::command: \
    return reinterpret_cast<PFN_vkVoidFunction>(Wrapped<Counted::command, PFN_vk##command>::call);
    RR_DEVICE_FUNCTIONS(X)
#undef X
    case Counted::Count:
      break;
  }
  return nullptr;
}

void CountingLayer::device_made(VkDevice device, Next& next) {
  for (std::size_t i = 0; i < kCounted; ++i) {
    for (const char* suffix : {"", "KHR", "EXT"}) {
      const std::string name = "vk" + std::string(bare_name(kCountedNames.at(i))) + suffix;
      if (auto& function = next.functions.at(i); function == nullptr) {
        function = next.device_proc(device, name.c_str());
      }
    }
  }
}

PFN_vkVoidFunction CountingLayer::device_function(const Next&, std::string_view name, PFN_vkVoidFunction given) {
  for (std::size_t i = 0; given != nullptr && i < kCounted; ++i) {
    if (bare_name(kCountedNames.at(i)) == bare_name(name)) {
      return wrapped(static_cast<Counted>(i));
    }
  }
  return given;
}

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_counts(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::CountingLayer::negotiate(interface);
}
