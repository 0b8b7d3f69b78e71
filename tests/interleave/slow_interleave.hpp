// The rules of sim/machine/interleave.hpp once more, cycle by cycle, with lists and maps: slow, and easy to believe.
// Without `work` every row of work is empty and bandwidths have no limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/slow_dispatch.hpp"
#include "tests/interleave/slow_memory.hpp"
#include "tests/interleave/slow_work.hpp"

namespace rayreplay::test {

class SlowInterleave {
 public:
  SlowInterleave(const std::vector<memory::WarpStream>& streams, const memory::CoalesceOptions& coalescing,
                 SlowDispatch& dispatch, const machine::Machine& machine, const machine::InterleaveOptions& options)
      : streams_(streams), dispatch_(dispatch), options_(options), memory_(coalescing, machine, options.work, result) {
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      sms_.push_back(
          {.l1 = {.cache = {machine.l1_bytes, machine.l1_line_bytes, machine.l1_ways, machine.l1_sector_bytes}},
           .work = {machine, options.compute_cycles},
           .slots = SlowSmWork::Slots(options.resident_warps)});
      sms_.back().span_of_slot.resize(options.resident_warps);
    }
    lives.resize(machine.sms);
    result.sm_instructions.resize(machine.sms);
    result.sm_last_cycle.resize(machine.sms);
  }

  void run() {
    for (std::uint64_t cycle = 0; work_left(); ++cycle) {
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        wake(sm, cycle);
      }
      fill(cycle);
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        sms_[sm].work.admit(sms_[sm].slots, cycle);
        issue(sm, cycle);
        most_running = std::max(most_running, running(sms_[sm]));
        count(sm, cycle);
      }
    }
    for (const std::uint64_t last : result.sm_last_cycle) {
      result.cycles = std::max(result.cycles, last);
    }
    if (options_.work) {
      sum_up();
    }
  }

  /// Cycles of a warp in one state.
  struct Span {
    std::uint64_t from = 0, to = 0;
    std::uint32_t sm = 0, item = 0;
    machine::WarpWait state{};
  };

  machine::InterleaveResult result;
  memory::TransactionBlock all;
  std::vector<std::uint32_t> items;        ///< of each transaction
  std::vector<std::uint64_t> completions;  ///< of each transaction
  std::uint32_t most_running = 0;
  std::uint64_t most_rays = 0;       ///< in flight on one SM
  std::vector<std::uint64_t> lives;  ///< by SM: from start to end, of all its warps
  std::vector<Span> spans;           ///< by their begin, then SM, then slot

 private:
  struct Sm {
    SlowL1 l1;
    SlowSmWork work;
    SlowSmWork::Slots slots;
    std::optional<std::uint32_t> issuing{};  ///< slot
    std::size_t transaction = 0;
    std::uint32_t turn = 0;
    std::optional<std::uint64_t> greedy{};  ///< `started` of the warp that issued last
    std::uint64_t draws = 0;
    std::uint64_t starts = 0;
    machine::SmTime time{};
    std::uint64_t empty = 0;                                 ///< cycles without warps since the last warp
    std::vector<std::optional<std::size_t>> span_of_slot{};  ///< that goes on
  };

  static std::uint32_t running(const Sm& sm) {
    return static_cast<std::uint32_t>(
        std::count_if(sm.slots.begin(), sm.slots.end(), [](const auto& slot) { return slot.has_value(); }));
  }
  [[nodiscard]] bool work_left() const {
    return dispatch_.work_left() || std::any_of(sms_.begin(), sms_.end(), [](const Sm& sm) { return running(sm) > 0; });
  }

  [[nodiscard]] bool has_room(std::uint32_t sm) const {
    return dispatch_.runs(sm) && running(sms_[sm]) < options_.resident_warps;
  }
  void fill(std::uint64_t cycle) {
    dispatch_.told(cycle);
    for (;;) {
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        while (has_room(sm)) {
          const auto item = dispatch_.own(sm, cycle);
          if (!item) {
            break;
          }
          start(*item, sm, cycle);
        }
      }
      std::optional<std::uint32_t> chosen;
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        if (has_room(sm) && dispatch_.admits(sm) && (!chosen || running(sms_[sm]) < running(sms_[*chosen]))) {
          chosen = sm;
        }
      }
      const auto item = chosen ? dispatch_.shared(*chosen, cycle) : std::nullopt;
      if (!item) {
        return;
      }
      start(*item, *chosen, cycle);
    }
  }
  void start(std::uint32_t item, std::uint32_t number, std::uint64_t cycle) {
    ++result.items;
    Sm& sm = sms_[number];
    const auto slot = std::find_if(sm.slots.begin(), sm.slots.end(), [](const auto& at) { return !at; });
    SlowWarp& warp = slot->emplace();
    warp.item = item;
    warp.start = cycle;
    warp.rows.resize(streams_[item].instructions() + 1);
    if (options_.work) {
      warp.rows = streams_[item].work;
      result.time.calls.add(streams_[item].calls);
    }
    const std::uint32_t delay = options_.start_delay.empty() ? 0 : options_.start_delay[dispatch_.delay_of(item)];
    if (options_.work && delay > 0) {
      warp.state = machine::WarpWait::Reorder;
      warp.until = cycle + delay;
    } else {
      sm.work.go_on(warp, static_cast<std::uint32_t>(slot - sm.slots.begin()), cycle);
    }
    if (warp.is_at_end) {
      slot->reset();
      dispatch_.ended(item, number, cycle);
    } else {
      warp.started = sm.starts++;
    }
  }

  /// Warps whose wait is over go on, and some of them end.
  void wake(std::uint32_t number, std::uint64_t cycle) {
    Sm& sm = sms_[number];
    for (std::uint32_t slot = 0; slot < sm.slots.size(); ++slot) {
      auto& warp = sm.slots[slot];
      if (!warp || warp->until != cycle) {
        continue;
      }
      sm.work.go_on(*warp, slot, cycle);
      if (warp->is_at_end) {
        dispatch_.ended(warp->item, number, cycle);
        lives[number] += cycle - warp->start;
        warp.reset();
        result.sm_last_cycle[number] = cycle;
      }
    }
  }

  /// The state of each warp at the end of the cycle.
  void count(std::uint32_t number, std::uint64_t cycle) {
    Sm& sm = sms_[number];
    if (running(sm) == 0) {
      ++sm.empty;
    } else {
      ++sm.time.busy;
      sm.time.barrier += sm.empty;
      sm.empty = 0;
    }
    for (std::uint32_t slot = 0; slot < sm.slots.size(); ++slot) {
      if (!sm.slots[slot]) {
        continue;
      }
      const SlowWarp& warp = *sm.slots[slot];
      ++sm.time.waits[static_cast<std::size_t>(warp.state)];
      ++result.time.stages[static_cast<std::size_t>(warp.stage)][static_cast<std::size_t>(warp.state)];
      std::optional<std::size_t>& at = sm.span_of_slot[slot];
      if (!at || spans[*at].to != cycle || spans[*at].item != warp.item || spans[*at].state != warp.state) {
        at = spans.size();
        spans.push_back({cycle, cycle, number, warp.item, warp.state});
      }
      spans[*at].to = cycle + 1;
    }
  }
  void sum_up() {
    result.cycles = std::max(result.cycles, memory_.last_cycle());
    machine::MemoryTime& time = result.time;
    for (Sm& sm : sms_) {
      sm.time.idle = result.cycles - sm.time.busy - sm.time.barrier;
      time.sms.push_back(sm.time);
      time.issue_cycles += sm.work.issue_cycles();
      time.ray_unit_cycles += sm.work.ray_unit_cycles();
      most_rays = std::max(most_rays, sm.work.most_rays);
    }
    time.l2_cycles = memory_.l2_cycles();
    time.dram_cycles = memory_.dram_cycles();
  }

  std::optional<std::uint32_t> choose(Sm& sm, std::uint32_t number) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t slot = 0; slot < sm.slots.size(); ++slot) {
      if (sm.slots[slot] && sm.slots[slot]->may_issue()) {
        ready.push_back(slot);
      }
    }
    if (ready.empty()) {
      return {};
    }
    const auto started = [&](std::uint32_t slot) { return sm.slots[slot]->started; };
    std::uint32_t chosen = ready.front();
    if (options_.warp_scheduler == "loose-round-robin") {
      const auto behind = std::lower_bound(ready.begin(), ready.end(), sm.turn);
      chosen = behind == ready.end() ? ready.front() : *behind;
      sm.turn = chosen + 1;
    } else if (options_.warp_scheduler == "greedy-then-oldest") {
      chosen = *std::min_element(ready.begin(), ready.end(), [&](auto a, auto b) { return started(a) < started(b); });
      for (const std::uint32_t slot : ready) {
        if (sm.greedy == started(slot)) {
          chosen = slot;
        }
      }
      sm.greedy = started(chosen);
    } else {  // random:seed=5
      const std::uint64_t drawn = split_mix(split_mix(5, number), sm.draws++) >> 32U;
      chosen = ready[drawn * ready.size() >> 32U];
    }
    return chosen;
  }

  void issue(std::uint32_t number, std::uint64_t cycle) {
    Sm& sm = sms_[number];
    if (!sm.issuing) {
      sm.issuing = choose(sm, number);
      if (!sm.issuing) {
        return;
      }
      sm.transaction = 0;
    }
    SlowWarp& warp = *sm.slots[*sm.issuing];
    const memory::WarpStream& stream = streams_[warp.item];
    memory::Transaction transaction = stream.transactions[stream.first[warp.row] + sm.transaction];
    transaction.sm = static_cast<std::uint16_t>(number);
    const std::optional<std::uint64_t> completes = memory_.access(sm.l1, transaction, cycle);
    if (!completes) {
      ++result.mshr_stall_cycles;
      return;
    }
    all.transactions.push_back(transaction);
    for (std::uint32_t lane = 0; lane < transaction.lanes; ++lane) {
      all.requests.push_back(stream.requests[warp.request++]);
    }
    all.cycles.push_back(cycle);
    items.push_back(warp.item);
    completions.push_back(*completes);
    ++result.transactions;
    warp.completes = std::max(warp.completes, *completes);
    warp.served_by = std::max(warp.served_by, server_of(transaction));
    ++sm.transaction;
    if (stream.first[warp.row] + sm.transaction == stream.first[warp.row + 1]) {
      sm.issuing.reset();
      ++result.instructions;
      ++result.sm_instructions[number];
      issued(warp, cycle);
    }
  }
  /// The last transaction of an instruction. The next instruction may not need its data; else the warp waits for the
  /// whole clause.
  static void issued(SlowWarp& warp, std::uint64_t cycle) {
    ++warp.row;
    if (warp.rows[warp.row].follows) {
      warp.part = SlowPart::Load;
      warp.until = cycle + 1;
    } else {
      warp.part = SlowPart::Tests;
      warp.state = warp.served_by;
      warp.until = warp.completes;
      warp.completes = 0;
      warp.served_by = machine::WarpWait::L1;
    }
  }
  static machine::WarpWait server_of(const memory::Transaction& transaction) {
    if ((transaction.flags & (memory::kStore | memory::kTimedHit)) != 0) {
      return machine::WarpWait::L1;
    }
    if ((transaction.flags & memory::kTimedMerged) != 0) {
      return machine::WarpWait::Merged;
    }
    return (transaction.flags & memory::kTimedL2Hit) != 0 ? machine::WarpWait::L2 : machine::WarpWait::Dram;
  }

  const std::vector<memory::WarpStream>& streams_;
  SlowDispatch& dispatch_;
  machine::InterleaveOptions options_;
  SlowMemory memory_;
  std::vector<Sm> sms_;
};

}  // namespace rayreplay::test
