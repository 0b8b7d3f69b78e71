// An exchange: holds the waiting threads of one unit between two segments (timed models).
//
// Contract: the machine (sim/machine) reports every thread that arrives, and asks for warps: `release` appends those
// that may start at `now`. Time never decreases. `starved` means that no running warp will bring more threads before a
// release, or that waiting threads hold all warp slots: an exchange with waiting threads must then release at least one
// warp, or the machine throws Internal. `deadline_cycles` is the time at which the exchange must be asked without an
// arrival. A released segment never returns. Deterministic: depends on the order of calls alone. Not thread-safe.
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
  std::uint32_t segment = 0;  ///< the waiting segment
  std::uint32_t warp = 0;     ///< the warp of the thread's last segment, numbered by start
  std::uint8_t lane = 0;
};

struct FormedWarp {
  std::array<std::uint32_t, kMaxWarpSize> segment_at;  ///< by lane; kNoSegment for idle lanes and from warp_size on
  std::uint32_t moved = 0;                             ///< as in SegmentSchedule
  std::uint64_t moved_lanes = 0;                       ///< lanes of the threads that moved
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
