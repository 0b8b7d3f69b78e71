// State of machine and warps for the interleaving's engine, independent of the warp scheduler (engine.hpp has the
// loop).
//
// Contract: time advances in windows no longer than the shortest miss, or a signal between SMs. Within a window an SM
// depends on other SMs only through the dispatcher (dispatcher.hpp). So each SM is simulated through the window by
// itself, with its caches and warps in the processor's cache, and records its transactions. `close_window` then asks
// the L2 in the order of cycle, then SM, computes when misses return, and delivers the transactions in that order. The
// results equal those of cycle-by-cycle simulation (conservative simulation with lookahead: Chandy and Misra, IEEE TSE
// 1979). Functions that take an SM change nothing of other SMs and may run at the same time for several, except those
// that ask the dispatcher: fill_own, fill_shared, filled, has_shared, report_ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/report_progress.hpp"
#include "sim/machine/interleaving/bring_near.hpp"
#include "sim/machine/interleaving/item_supply.hpp"
#include "sim/machine/interleaving/memory_bandwidth.hpp"
#include "sim/machine/interleaving/sector_map.hpp"
#include "sim/machine/interleaving/sm_unit.hpp"
#include "sim/machine/interleaving/work_rules.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {

class EngineState {
 public:
  explicit EngineState(const InterleaveCall& call);

  [[nodiscard]] bool has_shared(const SmUnit& unit, std::uint64_t cycle) const {
    return call_.dispatcher.has_shared(unit.sm, cycle);
  }
  /// Fills free slots with the SM's own items; calls start(sm, slot, is ready) for those that take the slot.
  template <class Start>
  void fill_own(SmUnit& unit, std::uint64_t cycle, Start start) {
    while (unit.free_slots.any()) {
      const std::uint32_t item = call_.dispatcher.take_own(unit.sm, cycle);
      if (item == Dispatcher::kNone) {
        return;
      }
      begin_item(item, unit, cycle, start);
    }
  }
  /// Distributes shared items to SMs that have free slots for them in the same cycle.
  template <class Start>
  void fill_shared(const std::vector<std::uint32_t>& vacant, std::uint64_t cycle, Start start) {
    vacant_.clear();
    for (const std::uint32_t sm : vacant) {
      vacant_.emplace_back(units[sm].running, sm);
    }
    std::make_heap(vacant_.begin(), vacant_.end(), std::greater<>());
    while (!vacant_.empty()) {
      std::pop_heap(vacant_.begin(), vacant_.end(), std::greater<>());
      SmUnit& unit = units[vacant_.back().second];
      releases_.clear();
      const std::uint32_t item = call_.dispatcher.take_shared(unit.sm, cycle, releases_);
      pass_on();
      if (item == Dispatcher::kNone) {
        vacant_.pop_back();
        continue;
      }
      begin_item(item, unit, cycle, start);
      fill_own(unit, cycle, start);
      if (unit.free_slots.any()) {
        vacant_.back().first = unit.running;
        std::push_heap(vacant_.begin(), vacant_.end(), std::greater<>());
      } else {
        vacant_.pop_back();
      }
    }
  }
  /// The SM has taken all items that it can take in this cycle.
  void filled(SmUnit& unit, std::uint64_t cycle) const {
    unit.vacant = false;
    unit.release = unit.free_slots.any() ? call_.dispatcher.next_release(unit.sm, cycle) : SmUnit::kNever;
  }

  /// The warp has no more instructions.
  [[nodiscard]] bool has_ended(const SmUnit& unit, std::uint32_t slot) const {
    const WarpState& one = warps_[unit.sm * resident_ + slot];
    return one.next == one.end;
  }
  [[nodiscard]] WarpState& warp(const SmUnit& unit, std::uint32_t slot) {
    return warps_[unit.sm * resident_ + slot];
  }
  void end_warp(SmUnit& unit, std::uint32_t slot, std::uint64_t cycle) {
    unit.free_slots.insert(slot);
    --unit.running;
    unit.vacant = true;
    if (rules_) {
      unit.last_cycle = cycle;
      if (unit.running == 0) {
        unit.work.busy += cycle - unit.work.busy_since;
      }
    }
    if (call_.options.history != nullptr) {
      call_.options.history->warp_ends(unit.sm, cycle);
    }
    unit.ended_items.push_back(warp(unit, slot).item);
  }
  /// Tells the dispatcher of the warps that have ended in the cycle that the SM has reached.
  void report_ends(SmUnit& unit) {
    for (const std::uint32_t item : unit.ended_items) {
      end_item(item, unit.sm, unit.time);
    }
    unit.ended_items.clear();
  }
  /// The warp's instruction takes the load unit.
  static void hold(SmUnit& unit, std::uint32_t slot) {
    unit.slot = slot;
    unit.holds = true;
  }
  void begin_clause(const SmUnit& unit, std::uint32_t slot) {
    WarpState& one = warp(unit, slot);
    one.completes = 0;
    one.waits = false;
  }
  /// Prefetches the transactions and rows of work that its warps will read in this window.
  void prefetch(const SmUnit& unit) const {
    unit.wakes.each_before(window_end(), [&](std::uint32_t slot) {
      const std::uint32_t id = unit.sm * resident_ + slot;
      bring_near(warps_[id].next);
      if (rules_) {
        bring_near(progress_[id].row);
      }
    });
  }
  /// Issues the next transaction of the instruction that holds the load unit, unless the SM must wait for a miss. True
  /// if the warp's next instruction follows it and is ready.
  bool issue(SmUnit& unit, std::uint64_t cycle);

  // With work.
  [[nodiscard]] WorkRules::Next go_on(SmUnit& unit, std::uint32_t slot, std::uint64_t cycle) {
    const WorkRules::Next next = rules_->go_on(unit, progress_[unit.sm * resident_ + slot], slot, cycle);
    if (next == WorkRules::Next::Ready) {
      begin_clause(unit, slot);
    }
    return next;
  }
  /// Admits the first warp in the queue of the ray-tracing unit, if there is one and it fits; its slot, or kNone.
  [[nodiscard]] std::uint32_t admit(SmUnit& unit, std::uint64_t cycle) {
    if (unit.work.ray_queue.empty()) {
      return SmUnit::kNone;
    }
    const std::uint32_t slot = unit.work.ray_queue.front();
    WarpProgress& first = progress_[unit.sm * resident_ + slot];
    if (!rules_->admits(unit, first)) {
      return SmUnit::kNone;
    }
    WorkRules::admit(unit, first, cycle);
    return slot;
  }

  /// The first cycle with an event; kNever.
  [[nodiscard]] std::uint64_t open_window();
  [[nodiscard]] std::uint64_t window_end() const {
    return window_ + length_;
  }
  void close_window();
  [[nodiscard]] InterleaveResult finish();

  std::vector<SmUnit> units;

 private:
  /// The L2 request for sectors that the L1 lacks.
  struct Served {
    std::uint64_t returns;
    bool hit;
    std::uint32_t missing;       ///< with work: bytes that the L2 lacks
    std::uint32_t written_back;  ///< dirty bytes of lines that it replaces
  };

  /// The SM must have a free slot.
  template <class Start>
  void begin_item(std::uint32_t item, SmUnit& unit, std::uint64_t cycle, Start start) {
    const std::uint32_t slot = unit.free_slots.at_or_above(0);
    const std::uint32_t id = unit.sm * resident_ + slot;
    if (streams_[id] != nullptr) {
      if (streams_outlive_) {
        retired_.push_back(warps_[id].item);
      } else {
        supply_.give_back(warps_[id].item);
      }
    }
    streams_[id] = &supply_.take(item);
    ++result_.items;
    report_advance(call_.options.progress, 1);
    const memory::WarpStream& stream = *streams_[id];
    warps_[id] = {.next = stream.transactions.data(),
                  .end = stream.transactions.data() + stream.transactions.size(),
                  .request = stream.requests.empty() ? nullptr : stream.requests.data(),
                  .item = item};
    const WorkRules::Next next = rules_                        ? begin_work(unit, slot, stream, cycle)
                                 : stream.transactions.empty() ? WorkRules::Next::Ends
                                                               : WorkRules::Next::Ready;
    if (next == WorkRules::Next::Ends) {
      end_item(item, unit.sm, cycle);
      return;
    }
    if (rules_ && unit.running == 0) {
      unit.work.busy_since = cycle;
    }
    unit.free_slots.erase(slot);
    ++unit.running;
    if (call_.options.history != nullptr) {
      call_.options.history->warp_starts(unit.sm, cycle);
    }
    start(unit.sm, slot, next == WorkRules::Next::Ready);
  }
  /// The warp's first row, or the delay before it.
  WorkRules::Next begin_work(SmUnit& unit, std::uint32_t slot, const memory::WarpStream& stream, std::uint64_t cycle);
  void end_item(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle) {
    releases_.clear();
    call_.dispatcher.ended(item, sm, cycle, releases_);
    pass_on();
  }
  /// Passes releases on to their SMs. Released items of other SMs start after this window.
  void pass_on() {
    for (const Release& release : releases_) {
      SmUnit& unit = units[release.sm];
      if (unit.free_slots.any()) {
        unit.release = std::min(unit.release, release.cycle);
        unit.time = std::min(unit.time, release.cycle);
      }
    }
  }

  /// False if it must wait for a miss.
  bool load(SmUnit& unit, WarpState& warp, const memory::Transaction& transaction, std::uint64_t cycle);
  [[nodiscard]] bool holds_another(SmUnit& unit, std::uint64_t cycle) const;
  void sort_issued();
  [[nodiscard]] bool asks_l2(const SmUnit::Issued& issued) const {
    return has_l2_ && (issued.miss != SmUnit::kNone || (issued.transaction.flags & memory::kStore) != 0);
  }
  void prefetch_places(const SmUnit::Issued& issued) const;
  void prefetch_lines(const SmUnit::Issued& issued) const;
  void serve(SmUnit::Issued& issued);
  void store(const memory::Transaction& transaction, std::uint64_t cycle);
  TimingCache::Line* insert_l2(std::uint64_t number, std::uint32_t& written_back);
  Served ask_l2(std::uint64_t line, std::uint8_t units, std::uint64_t cycle, MemoryBandwidth::Returns returns);
  /// Writes what belongs to the transaction, as far as it is wanted: its cycle, its requests, its raw instruction.
  void emit_details(const SmUnit::Issued& issued, std::uint32_t index);
  void hand_over();
  void add_time();
  void settle(SmUnit& unit);
  void remember(const SmUnit& unit) const;
  void settle_states(const SmUnit& unit);
  void served_by(const SmUnit& unit, WarpWait where, std::uint32_t slot);
  void completed(SmUnit& unit, const WarpState& warp, std::uint32_t slot);

  InterleaveCall call_;
  memory::CacheGeometry l1_geometry_, l2_geometry_;
  SectorMap map_;
  std::uint32_t resident_;
  std::uint64_t l1_latency_;
  bool has_l1_, has_l2_;
  std::optional<WorkRules> rules_;  ///< with work
  MemoryBandwidth bandwidth_;
  bool streams_outlive_;  ///< streams of ended warps are kept until the window is closed
  bool has_details_;      ///< transactions are not all that is wanted
  std::uint64_t window_ = 0, length_;
  ItemSupply supply_;
  std::vector<Release> releases_;
  std::vector<WarpState> warps_;                           ///< SM · resident warps + slot
  std::vector<WarpProgress> progress_;                     ///< as warps_, with work
  std::vector<const memory::WarpStream*> streams_;         ///< as warps_; null: the slot was never used
  std::vector<std::uint32_t> retired_;                     ///< items that have ended, and whose streams are still read
  using Vacant = std::pair<std::uint32_t, std::uint32_t>;  // warps, SM
  std::vector<Vacant> vacant_;                             ///< heap of SMs that get shared items
  TimingCache l2_;
  std::vector<std::uint32_t> begin_;   ///< start of each cycle of the window in order_
  std::vector<SmUnit::Issued> order_;  ///< issued transactions, by cycle, then SM
  std::vector<std::uint32_t> from_;    ///< their positions in the SMs' lists
  std::vector<std::uint32_t> raw_next_;
  memory::TransactionBlock block_;
  InterleaveResult result_;
};

}  // namespace rayreplay::machine
