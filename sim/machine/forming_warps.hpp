// Warps that form while a machine runs: launched warps, threads in exchanges, and formed warps (timed models).
//
// Contract: both time models use this object: the fluid (timed_run.cpp) and memory time
// (interleaving/dispatch_forming.cpp). They say when warps end and on which SM there is room; this object keeps account
// of segments and calls the exchanges. A *launched* warp runs the first segments of its threads; a *formed* one was
// released by an exchange. Numbers of warps: launched warps from 0 by start rank, without those that have no segments;
// then formed warps in the order of their release. There is one exchange for all SMs that shade, or one for each; SMs
// are numbered from 0 among those that shade. Of an exchange:
//   ready     released warps that have not started, in order of release
//   running   warps that have started and whose end has not been reported
//   coming    lanes of running and ready warps whose threads have a later segment
//   admits    a launched warp may start: running + ready + ⌈waiting threads / warp size⌉ is less than the slots of the
//             exchange's SMs
//   starved   threads wait, none is coming, no warp is ready, and no launched warp can come: none is left, or nothing
//             runs and none is admitted. The exchange must then release a warp.
// Results depend on the order of calls alone, and on the times that exchanges get. Every segment starts once, after the
// thread's previous one has ended. O(warp size) a call, besides the exchange's own cost. Memory: a byte a segment, 4
// bytes a launched warp, and the lanes of warps that run or are ready: at most as many as threads fit into all slots.
// Errors: Internal for exchanges that break their contract, Resource for more than Waiting::kMaxWarps warps.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "scheduler-models/regrouping/exchange.hpp"
#include "scheduler-models/regrouping/queue_places.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::machine {

using Exchanges = std::vector<std::unique_ptr<scheduler::Exchange>>;

class FormingWarps {
 public:
  /// `order`: lanes and warps at launch. Order and segments must outlive this object. `sms`: those that shade.
  /// `queues`: in memory, a group for each exchange; warps append to them when they start. Null: none.
  FormingWarps(const scheduler::WarpAssignment& order, const scheduler::Segments& segments, Exchanges exchanges,
               std::uint32_t sms, std::uint32_t resident_warps, scheduler::QueuePlaces* queues = nullptr);

  [[nodiscard]] std::uint32_t exchanges() const {
    return static_cast<std::uint32_t>(exchanges_.size());
  }
  /// One exchange for all SMs.
  [[nodiscard]] bool single() const {
    return is_single_;
  }
  [[nodiscard]] std::uint32_t exchange_of(std::uint32_t sm) const {
    return is_single_ ? 0 : sm;
  }

  [[nodiscard]] std::uint32_t launch_warps() const {
    return static_cast<std::uint32_t>(launch_warps_.size());
  }
  /// The number of the launched warp that starts next, if one is left.
  [[nodiscard]] std::uint32_t next_launched() const {
    return next_launched_;
  }
  [[nodiscard]] bool launch_left() const {
    return next_launched_ < launch_warps_.size();
  }
  [[nodiscard]] bool admits(std::uint32_t exchange) const;
  [[nodiscard]] std::uint64_t waiting(std::uint32_t exchange) const {
    return exchanges_[exchange]->waiting();
  }
  [[nodiscard]] const std::deque<std::uint32_t>& ready(std::uint32_t exchange) const {
    return waits_[exchange].ready;
  }
  [[nodiscard]] std::uint32_t running(std::uint32_t exchange) const {
    return waits_[exchange].running;
  }

  /// Start the exchange's first ready warp, or the next launched one. The warp's number.
  [[nodiscard]] std::uint32_t start_ready(std::uint32_t exchange);
  [[nodiscard]] std::uint32_t start_launched(std::uint32_t exchange);
  /// A started warp has ended: its threads with a later segment arrive, in the order of lanes. The number of the
  /// warp's threads.
  std::uint32_t ended(std::uint32_t warp, std::uint32_t exchange, double now_cycles);
  /// Asks the exchange for warps: after ends of its warps, and at its deadline.
  void ask(std::uint32_t exchange, double now_cycles);
  void ask_at_deadline(std::uint32_t exchange, double now_cycles);
  /// The exchange's deadline; kNever if no thread waits.
  [[nodiscard]] double deadline(std::uint32_t exchange) const;
  /// `launch_left`: launched warps are left, as far as the exchange knows.
  [[nodiscard]] bool is_starved(std::uint32_t exchange, bool launch_left) const;
  /// Asks the starved exchange, which must release a warp.
  void feed(std::uint32_t exchange, double now_cycles);

  /// Of a launched warp, or a formed one that is ready or runs.
  [[nodiscard]] scheduler::FormedWarp lanes_of(std::uint32_t warp) const;
  /// Order of the warp's start, from 0. The warp must be running.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t warp) const {
    return alive_.at(warp).rank;
  }
  /// Segments that have not started.
  [[nodiscard]] std::uint64_t left() const {
    return state_.size() - started_;
  }

 private:
  /// Flags of a segment: it is the last of its thread; its thread waits in an exchange to run it.
  enum State : std::uint8_t { kLast = 1, kWaiting = 2 };

  struct Wait {
    std::deque<std::uint32_t> ready;
    std::uint64_t coming = 0;
    std::uint32_t running = 0;
  };
  struct Alive {
    scheduler::FormedWarp warp;
    std::uint32_t rank = 0;
  };

  [[nodiscard]] scheduler::FormedWarp launched(std::uint32_t warp) const;
  void release(std::uint32_t exchange, double now_cycles, bool starved);
  void start(std::uint32_t exchange, Alive& warp);

  const scheduler::WarpAssignment* order_;
  const scheduler::Segments* segments_;
  Exchanges exchanges_;
  bool is_single_;
  std::uint64_t slots_;  ///< of an exchange's SMs
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> launch_warps_;  ///< those with segments, by start rank
  std::uint32_t next_launched_ = 0;
  std::uint32_t formed_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint64_t started_ = 0;                       ///< segments
  trace::Column<std::uint8_t> state_;               ///< by segment
  std::unordered_map<std::uint32_t, Alive> alive_;  ///< by number: ready formed warps, and running warps
  std::vector<scheduler::FormedWarp> released_;     ///< by one call
  scheduler::QueuePlaces* queues_;
};

}  // namespace rayreplay::machine
