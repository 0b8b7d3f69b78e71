// The programs of the traversal kernels, specialised for a structure and the wanted results.
//
// Contract: programs are cached by the device; structures of similar depth share them. The structure must be fit
// (bvh_on_device.hpp). Errors: DeviceError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/traversal/trace.hpp"

namespace rayreplay::kernels::traversal {

inline constexpr std::uint32_t kThreads = 64;  ///< of a workgroup, one ray each

struct Variant {
  bool counters = false;
  bool log = false;  ///< access log: counts rows; writes them if the push constants have an address
  bool answers = false;
  bool backward = false;  ///< some t_min is below 0
  bool filter = true;     ///< a float test of triangles before the exact one; the same results
};

[[nodiscard]] Program scalar_program(Device& device, const BvhOnDevice& bvh, Order order, const Variant& variant);
/// `filter` and `counters` are ignored.
[[nodiscard]] Program warp_program(Device& device, const BvhOnDevice& bvh, std::uint32_t warp_size,
                                   const Variant& variant);

/// Whether any ray's t_min is below 0.
[[nodiscard]] bool any_backward(std::span<const RayRecord> rays);

[[nodiscard]] constexpr std::uint64_t groups_for(std::uint64_t rays) {
  return (rays + kThreads - 1) / kThreads;
}

/// Answers in device memory.
class AnswersOnDevice {
 public:
  AnswersOnDevice(Device& device, Stream& stream, const Answers& answers);

  /// Device address of the AnswerRecord.
  [[nodiscard]] std::uint64_t address() const {
    return record_.address();
  }

 private:
  std::vector<Buffer> arrays_;
  Buffer record_;
};

}  // namespace rayreplay::kernels::traversal
