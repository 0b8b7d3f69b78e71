// How often each Vulkan function below the capture layer was called: memory that a run and its driver share.
//
// The functions are those that the layer can call at all, whether under their core name or that of an extension.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "capture/layer/device/dispatch.hpp"

namespace rayreplay::test {

inline constexpr char kCountsVariable[] = "RAYREPLAY_TEST_COUNTS";

enum class Counted : unsigned {
#define X(name) name,
  RR_DEVICE_FUNCTIONS(X)
#undef X
      Count
};
inline constexpr std::size_t kCounted = static_cast<std::size_t>(Counted::Count);

inline constexpr std::array<std::string_view, kCounted> kCountedNames = {
#define X(name) #name,
    RR_DEVICE_FUNCTIONS(X)
#undef X
};

struct Calls {
  std::array<std::atomic<std::uint64_t>, kCounted> of{};
};

/// Without "vk" and the suffix of an extension: the same for all names of a function.
constexpr std::string_view bare_name(std::string_view name) {
  if (name.starts_with("vk")) {
    name.remove_prefix(2);
  }
  for (const std::string_view suffix : {"KHR", "EXT"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
    }
  }
  return name;
}

}  // namespace rayreplay::test
