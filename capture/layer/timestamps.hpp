// Pairs of timestamp queries, one for each recorded launch.
//
// Thread-safe. A pair belongs to the caller until it is returned. Complexity: constant.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

namespace rayreplay::layer {

struct Device;

struct TimestampPair {
  VkQueryPool pool = VK_NULL_HANDLE;
  std::uint32_t first = 0;
};

class Timestamps {
 public:
  explicit Timestamps(Device& device) : device_(device) {}
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;
  ~Timestamps();

  /// Nothing if the device has no more queries.
  [[nodiscard]] std::optional<TimestampPair> take();
  void give_back(const TimestampPair& pair) noexcept;

  /// Begin and end in ns of the device's clock; empty if not available.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> read(const TimestampPair& pair,
                                                                            std::uint32_t valid_bits) const;

 private:
  Device& device_;
  std::mutex mutex_;
  std::vector<VkQueryPool> pools_;
  std::vector<TimestampPair> free_;
};

}  // namespace rayreplay::layer
