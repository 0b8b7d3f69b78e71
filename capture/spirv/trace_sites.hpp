// Numbers of trace calls: which call of its shader's code began a ray.
//
// Contract: functions are visited in the order of the module, their trace calls in the order of their code. A call's
// number is the least that is above those of all earlier calls of every shader that reaches it; from kLastSite on calls
// share that number. The instrumentation writes these numbers into records, and whoever reads a trace finds the calls
// again by them. O(shaders) a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rayreplay::spirv {

/// Sites are eight bits.
inline constexpr std::uint32_t kLastSite = 255;

class SiteNumbers {
 public:
  explicit SiteNumbers(std::size_t shaders) : next_(shaders, 0) {}

  struct Site {
    std::uint8_t number = 0;
    bool shared = false;  ///< there were no numbers left
  };
  /// The next call. `shaders`: those whose calls reach its function.
  [[nodiscard]] Site next(std::span<const std::uint32_t> shaders);

 private:
  std::vector<std::uint32_t> next_;  ///< by shader
};

}  // namespace rayreplay::spirv
