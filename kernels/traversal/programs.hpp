// The programs of the traversal kernels, specialised for a structure and what is asked for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/traversal/trace.hpp"

namespace rayreplay::kernels::traversal {

inline constexpr std::uint32_t kThreads = 64;  ///< of a workgroup, one ray each

/// Rows of the access log: as the shaders' kLog.
enum class Log : std::uint32_t { None, Count, Write };

struct Variant {
  bool counters = false;
  Log log = Log::None;
  bool answers = false;
};

[[nodiscard]] Program scalar_program(Device& device, const BvhOnDevice& bvh, Order order, const Variant& variant);
[[nodiscard]] Program warp_program(Device& device, const BvhOnDevice& bvh, Schedule schedule, std::uint32_t warp_size,
                                   const Variant& variant, bool writes_steps);

[[nodiscard]] constexpr std::uint64_t groups_for(std::uint64_t rays) {
  return (rays + kThreads - 1) / kThreads;
}

/// Answers in the memory of a device.
class AnswersOnDevice {
 public:
  AnswersOnDevice(Device& device, Stream& stream, const Answers& answers);

  /// Of the AnswerRecord.
  [[nodiscard]] std::uint64_t address() const {
    return record_.address();
  }

 private:
  std::vector<Buffer> arrays_;
  Buffer record_;
};

}  // namespace rayreplay::kernels::traversal
