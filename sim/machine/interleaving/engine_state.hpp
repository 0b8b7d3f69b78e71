// What the interleaving's engine keeps of machine and warps, whatever the warp scheduler (engine.hpp has the loop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "sim/machine/interleaving/bring_near.hpp"
#include "sim/machine/interleaving/item_supply.hpp"
#include "sim/machine/interleaving/miss_returns.hpp"
#include "sim/machine/interleaving/sector_map.hpp"
#include "sim/machine/interleaving/slot_set.hpp"
#include "sim/machine/interleaving/sm_set.hpp"
#include "sim/machine/interleaving/timing_cache.hpp"
#include "sim/machine/interleaving/wake_ring.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {

/// With the parts of its stream that are read for every instruction.
struct WarpState {
  std::uint32_t next = 0;  ///< instruction
  std::uint32_t instructions = 0;
  std::uint32_t item = 0;
  const std::uint32_t* first = nullptr;
  const memory::Transaction* transactions = nullptr;
  const memory::Request* request = nullptr;  ///< the next transaction's first; null: none are kept
};

struct SmState {
  // The instruction that holds the load unit; next == end: none does.
  const memory::Transaction* next = nullptr;
  const memory::Transaction* end = nullptr;
  std::uint64_t completes = 0;
  std::uint64_t waits_since = 0;
  std::uint32_t warp = 0;     ///< whose instruction it is
  std::uint32_t running = 0;  ///< warps
  bool begun = false;         ///< its first transaction has issued
  bool waits = false;         ///< for a miss to return
  std::uint64_t instructions = 0;
  std::uint64_t last_cycle = 0;
};

class EngineState {
 public:
  explicit EngineState(const InterleaveCall& call);

  /// Gives items to free slots; calls start(sm, slot) for those with instructions.
  template <class Start>
  void fill(Start start) {
    if (supply_.exhausted()) {
      vacant_ = false;
      return;
    }
    if (per_sm_) {
      vacant_sms_.each([&](std::uint32_t sm) {
        while (free_slots_[sm].any() && begin_item(sm, sm, start)) {
        }
        vacant_sms_.erase(sm);
      });
    } else {
      fill_from_one_queue(start);
    }
    vacant_ = false;
  }

  [[nodiscard]] bool vacant() const {
    return vacant_;
  }
  [[nodiscard]] std::uint32_t sm_of(std::uint32_t id) const {
    return sm_of_[id];
  }
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t id) const {
    return id - sm_of_[id] * resident_;
  }
  void end_warp(std::uint32_t sm, std::uint32_t slot);
  void begin_instruction(std::uint32_t sm, std::uint32_t slot);
  /// Brings near what the warp's next instruction will read, and what the SM's next transaction will look up.
  void prefetch_instruction(std::uint32_t id) const {
    const WarpState& warp = warps[id];
    bring_near(warp.first + warp.next);
  }
  void prefetch_places(std::uint32_t sm) const {
    const std::uint64_t line = sms[sm].next->line;
    if (has_l1_) {
      l1_[sm].prefetch(line);
    }
    if (has_l2_) {
      l2_.prefetch(map_.first_l2_line(line));
    }
  }
  void prefetch_lines(std::uint32_t sm) const {
    const memory::Transaction& next = *sms[sm].next;
    if (has_l1_ && l1_[sm].prefetch_line(next.line) && (next.flags & memory::kStore) == 0) {
      return;  // seldom asks the L2
    }
    if (has_l2_) {
      map_.each_l2_line(next.line, next.sectors,
                        [this](std::uint64_t number, std::uint8_t /*sectors*/) { (void)l2_.prefetch_line(number); });
    }
  }
  /// False if the SM has to wait for a miss to return.
  bool issue_transaction(std::uint32_t sm, std::uint64_t cycle);
  void end_instruction(std::uint32_t sm);
  [[nodiscard]] InterleaveResult finish();

  WakeRing wake;                 ///< of warps, then of SMs that wait
  SmSet active;                  ///< SMs that can issue
  std::vector<WarpState> warps;  ///< SM · resident warps + slot
  std::vector<SmState> sms;

 private:
  /// Of the L2, for sectors that the L1 has not.
  struct Served {
    std::uint64_t returns;
    bool hit;
  };

  template <class Start>
  void fill_from_one_queue(Start start) {
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // warps, SM
    std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
    vacant_sms_.each([&](std::uint32_t sm) {
      places.emplace(sms[sm].running, sm);
      vacant_sms_.erase(sm);
    });
    while (!places.empty()) {
      const std::uint32_t sm = places.top().second;
      places.pop();
      if (!begin_item(0, sm, start)) {
        return;
      }
      if (free_slots_[sm].any()) {
        places.emplace(sms[sm].running, sm);
      }
    }
  }

  /// False if the queue has no item.
  template <class Start>
  bool begin_item(std::size_t queue, std::uint32_t sm, Start start) {
    const std::uint32_t slot = free_slots_[sm].at_or_above(0);
    const std::uint32_t id = sm * resident_ + slot;
    const std::uint32_t item = supply_.take(queue, streams_[id]);
    if (item == ItemSupply::kNone) {
      return false;
    }
    ++result_.items;
    if (call_.options.progress != nullptr) {
      call_.options.progress->advance(1);
    }
    const memory::WarpStream& stream = streams_[id];
    warps[id] = {.instructions = static_cast<std::uint32_t>(stream.instructions()),
                 .item = item,
                 .first = stream.first.data(),
                 .transactions = stream.transactions.data(),
                 .request = stream.requests.empty() ? nullptr : stream.requests.data()};
    if (warps[id].instructions > 0) {
      free_slots_[sm].erase(slot);
      ++sms[sm].running;
      start(sm, slot);
    }
    return true;
  }

  std::uint64_t load(std::uint32_t sm, const memory::Transaction& transaction, std::uint64_t cycle,
                     std::uint8_t& flags);
  void store(std::uint32_t sm, const memory::Transaction& transaction);
  Served ask_l2(std::uint64_t line, std::uint8_t units, std::uint64_t cycle);
  void emit(SmState& unit, std::uint32_t sm, const memory::Transaction& transaction, std::uint8_t flags,
            std::uint64_t cycle);
  void hand_over();

  InterleaveCall call_;
  memory::CacheGeometry l1_geometry_, l2_geometry_;
  SectorMap map_;
  std::uint32_t resident_;
  std::uint64_t l1_latency_, l2_latency_, dram_latency_;
  bool has_l1_, has_l2_;
  bool per_sm_;  ///< a queue for each SM
  bool vacant_ = true;
  ItemSupply supply_;
  std::vector<std::uint16_t> sm_of_;
  std::vector<memory::WarpStream> streams_;  ///< of resident warps
  std::vector<SlotSet> free_slots_;          ///< by SM
  SmSet vacant_sms_;                         ///< with free slots since the last fill
  std::vector<TimingCache> l1_;              ///< by SM
  TimingCache l2_;
  std::vector<MissReturns> returns_;  ///< by SM
  memory::TransactionBlock block_;
  InterleaveResult result_;
};

}  // namespace rayreplay::machine
