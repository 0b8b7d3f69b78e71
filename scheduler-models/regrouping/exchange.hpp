// An exchange: where the threads of one unit wait between two segments while time passes (asynchronous models).
//
// Contract: the machine (sim/machine) tells the exchange of every thread that arrives, and asks it for warps: `release`
// appends those that may start at `now`. Time never goes backwards. `starved` says that nothing that is running will
// bring more threads before a warp is released, or that all warp slots are held by waiting threads: an exchange that
// has threads waiting must then release at least one warp, or the machine stops with an Internal error. `deadline` is
// when the exchange wants to be asked although nothing has arrived. A released segment never comes back. Deterministic:
// depends on the order of calls alone. Not thread-safe: the machine calls one exchange from one thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Arrival {
  std::uint32_t segment = 0;  ///< which waits to run
  std::uint32_t warp = 0;     ///< in which its thread ran its last segment, numbered by start
  std::uint8_t lane = 0;
};

struct FormedWarp {
  std::array<std::uint32_t, kMaxWarpSize> segment_at;  ///< by lane; kNoSegment from warp_size on, and where nobody runs
  std::uint32_t moved = 0;                             ///< as in SegmentSchedule
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void arrive(const Arrival& arrival, double now_cycles) = 0;
  virtual void release(double now_cycles, bool starved, std::vector<FormedWarp>& out) = 0;
  [[nodiscard]] virtual double deadline_cycles() const {
    return kNever;
  }
  [[nodiscard]] virtual std::uint64_t waiting() const = 0;
};

}  // namespace rayreplay::scheduler
