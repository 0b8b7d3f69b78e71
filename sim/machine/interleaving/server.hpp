// A server with a queue, in fixed point: issue slots, a ray-tracing unit, the L2's bandwidth, DRAM's.
//
// Contract: times and services are in *ticks*, 2^-20 cycles, so that sums are exact. Work that arrives while the server
// is busy begins when all earlier work has ended: first come, first served. A service is the exact one rounded to the
// nearest tick, and at least one. Errors: Resource for services above kMaxServiceCycles and times above kMaxCycles.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rayreplay::machine {

inline constexpr unsigned kTickBits = 20;
inline constexpr std::uint64_t kTicks = std::uint64_t{1} << kTickBits;  ///< of a cycle
inline constexpr double kMaxServiceCycles = 1U << 30U;
inline constexpr std::uint64_t kMaxCycles = std::uint64_t{1} << 42U;

[[nodiscard]] constexpr std::uint64_t ticks_of(std::uint64_t cycle) {
  return cycle << kTickBits;
}
[[nodiscard]] constexpr std::uint64_t floor_cycle(std::uint64_t ticks) {
  return ticks >> kTickBits;
}
[[nodiscard]] constexpr std::uint64_t ceil_cycle(std::uint64_t ticks) {
  return (ticks + kTicks - 1) >> kTickBits;
}

[[noreturn]] void throw_too_long(const char* what, double cycles, double most);

/// Ticks of a service of so many cycles. The product is exact, so the result is the same on every computer.
[[nodiscard]] inline std::uint64_t service_of(double cycles) {
  if (!(cycles <= kMaxServiceCycles)) {
    throw_too_long("a part of a warp's work takes too long", cycles, kMaxServiceCycles);
  }
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(cycles * static_cast<double>(kTicks) + 0.5), 1);
}

class Server {
 public:
  struct Turn {
    std::uint64_t begins, ends;  ///< ticks
  };

  /// Work that arrives at this tick.
  Turn take(std::uint64_t arrives, std::uint64_t service) {
    const std::uint64_t begins = first(arrives);
    if (begins > ticks_of(kMaxCycles)) {
      throw_too_long("the launch takes too long", static_cast<double>(floor_cycle(begins)),
                     static_cast<double>(kMaxCycles));
    }
    free_ = begins + service;
    served_ += service;
    return {begins, free_};
  }
  /// The tick at which work that arrives at this one begins.
  [[nodiscard]] std::uint64_t first(std::uint64_t arrives) const {
    return std::max(arrives, free_);
  }
  /// The tick at which all work so far has ended.
  [[nodiscard]] std::uint64_t ends() const {
    return free_;
  }
  /// The sum of services.
  [[nodiscard]] std::uint64_t served() const {
    return served_;
  }

 private:
  std::uint64_t free_ = 0;
  std::uint64_t served_ = 0;
};

}  // namespace rayreplay::machine
