// Dispatchers: which item of work an SM may start, and from which cycle (docs/schedules.md).
//
// Contract: an item is what one warp runs from start to end. The interleaving asks in the order of cycles, and within a
// cycle after all ends. An SM with free slots first takes its *own* items, as many as it has slots for; then the SM
// with the fewest warps (ties to the lowest) takes a *shared* item and after it, again, its own; and so on until no SM
// has room or no shared item is left. `ended` reports the end of each item: those of one SM in the order of cycles,
// those of several SMs in any order within `signal_cycles`. An end may make items available: to the SM on which the
// item ended, in the same cycle; to other SMs, `signal_cycles` later at the earliest. Each item is given once.
// Deterministic. Not thread-safe.
//
// Kinds:
//   plan      queues of a work plan (work_distribution.hpp). One queue is shared, queues by SM are own.
//   schedule  a static segment schedule, with the placement of the time model (timing.hpp). An item is a warp of it.
//             Units with a `unit_sm` belong to that SM of the shading ones; others are shared and, unless the schedule
//             is `spread`, belong to the SM that takes their first warp. An SM starts its units' warps lowest unit
//             first. A round starts when the previous round of its unit has ended: at once for a unit of one SM,
//             `signal_cycles` later for a spread one. The withheld SMs are the lowest of the machine and run nothing.
//   played    warps whose SMs are known, as a timed model's run gives them. Each SM starts its warps in their order; a
//             warp starts when the earlier segments of all its threads have ended, `signal_cycles` later for those that
//             ended on another SM. Any order in which each warp follows the warps it waits for comes to its end.
//   forming   a timed model in a closed loop: warps form while the interleaving runs, at its times (terms:
//             forming_warps.hpp). Launched warps are shared items; a launched warp may start on an SM whose exchange
//             admits it. Ready warps start before launched ones. Items are numbered: launched warps by start rank, then
//             formed ones in the order of their release.
//             An exchange for each SM: its warps are the SM's own items. It is told of the ends of warps on its SM in
//             the cycle of the end, by start of the warps. After all ends of a cycle it is asked for warps, and once
//             more if its deadline has come. It knows `signal_cycles` after the start of the last launched warp that
//             none is left.
//             A single exchange: its warps are shared items. It is told of ends `signal_cycles` later, by SM, then by
//             start of the warps, and is then asked in the same way. It knows at once that no launched warp is left.
//
// `signal_cycles`: the machine's l2_latency_cycles; a signal to another SM goes through the L2. O(1) an item, O(log
// units of an SM) a round; forming: the exchanges' cost, and with a single one O(SMs) an item. Memory: 4 to 12 bytes an
// item, 4 a segment (played), 40 a unit; forming: that of FormingWarps. Errors: Internal for items that break the
// contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/machine/forming_warps.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/item_segments.hpp"

namespace rayreplay::machine {

/// From this cycle on, the SM may find an item that it did not find before.
struct Release {
  std::uint32_t sm = 0;
  std::uint64_t cycle = 0;
};

class Dispatcher {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  virtual ~Dispatcher() = default;
  /// Items are numbered below it.
  [[nodiscard]] virtual std::uint32_t items() const = 0;
  /// Items below it are known in advance, and all of them are given; others form while the interleaving runs.
  [[nodiscard]] virtual std::uint32_t known_items() const {
    return items();
  }
  /// True if items are left after so many have been given.
  [[nodiscard]] virtual bool has_left(std::uint64_t given) const {
    return given != items();
  }
  /// The lowest SM that runs items.
  [[nodiscard]] virtual std::uint32_t first_sm() const {
    return 0;
  }
  /// True if an end on one SM may make items available on others.
  [[nodiscard]] virtual bool signals() const {
    return false;
  }
  /// The next of the SM's own items in this cycle; kNone if there is none.
  [[nodiscard]] virtual std::uint32_t take_own(std::uint32_t sm, std::uint64_t cycle) = 0;
  /// True if there may be a shared item for this SM in this cycle.
  [[nodiscard]] virtual bool has_shared(std::uint32_t sm, std::uint64_t cycle) const = 0;
  /// The next shared item, for this SM; kNone if there is none. Called in the order of cycles. Appends releases as
  /// `ended` does.
  [[nodiscard]] virtual std::uint32_t take_shared(std::uint32_t sm, std::uint64_t cycle,
                                                  std::vector<Release>& releases) = 0;
  /// Appends releases of other SMs, and of all where the items are shared.
  virtual void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle, std::vector<Release>& releases) = 0;
  /// The first later cycle from which the SM may find an item that has been released; kNever if there is none.
  [[nodiscard]] virtual std::uint64_t next_release(std::uint32_t sm, std::uint64_t cycle) const = 0;
  /// Appends about `most` of the items that will be taken next, at least one if any is left.
  virtual void append_next(std::size_t most, std::vector<std::uint32_t>& items) const = 0;
};

/// The plan must outlive it. Usage for a plan with another number of queues than 1 or `sms`.
[[nodiscard]] std::unique_ptr<Dispatcher> dispatch_plan(const WorkPlan& plan, std::uint32_t sms);

/// The schedule must outlive it.
[[nodiscard]] std::unique_ptr<Dispatcher> dispatch_schedule(const scheduler::SegmentSchedule& schedule,
                                                            const Machine& machine, std::uint32_t withheld_sms);

/// `sm_of_warp`: SMs of the machine. All must outlive it.
[[nodiscard]] std::unique_ptr<Dispatcher> dispatch_played(const scheduler::SegmentSchedule& schedule,
                                                          const scheduler::Segments& segments,
                                                          std::span<const std::uint32_t> sm_of_warp,
                                                          const Machine& machine);

/// A dispatcher whose items form while the interleaving runs. The source of their streams asks it for their segments.
class FormingDispatcher : public Dispatcher, public memory::ItemSegments {};

/// `order`: lanes and warps at launch. `queues`: in memory, a group for each exchange; null for none. Order, segments
/// and queues must outlive it.
[[nodiscard]] std::unique_ptr<FormingDispatcher> dispatch_forming(const scheduler::WarpAssignment& order,
                                                                  const scheduler::Segments& segments,
                                                                  Exchanges exchanges, const Machine& machine,
                                                                  std::uint32_t resident_warps,
                                                                  std::uint32_t withheld_sms,
                                                                  scheduler::QueuePlaces* queues = nullptr);

}  // namespace rayreplay::machine
