// State of an SM of the interleaving, and its activity in the current window (engine_state.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/interleaving/miss_returns.hpp"
#include "sim/machine/interleaving/slot_set.hpp"
#include "sim/machine/interleaving/sm_work.hpp"
#include "sim/machine/interleaving/timing_cache.hpp"
#include "sim/machine/interleaving/wake_queue.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::machine {

struct WarpState {
  const memory::Transaction* next = nullptr;  ///< of its stream; flags mark the start of an instruction
  const memory::Transaction* end = nullptr;
  const memory::Request* request = nullptr;  ///< the next transaction's first request; null: none are kept
  std::uint64_t completes = 0;               ///< completion of its last instruction (clause), as far as known
  bool waits = false;                        ///< for transactions that complete after the window
  std::uint32_t item = 0;
  std::uint32_t row = 0;  ///< of the next instruction
};

struct SmUnit {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  /// Plus the number of a miss: return time of a line requested in this window, not known yet but after the window.
  static constexpr std::uint64_t kLater = std::uint64_t{1} << 63U;

  struct Issued {
    memory::Transaction transaction;
    std::uint32_t offset;  ///< cycle, from the window's first
    std::uint32_t miss;    ///< kNone: not a miss
  };
  struct Miss {
    std::uint64_t before;   ///< return of the line's pending sectors; kLater + a miss
    std::uint64_t returns;  ///< the L2's answer, later combined with `before`
    std::uint32_t l1_line;  ///< its place in the L1
    std::uint8_t units;     ///< requested from the L2
    MissReturns::From from;
    bool from_dram;  ///< the L2 lacked some
  };
  struct Waiter {
    std::uint32_t miss, slot;
  };
  struct Raw {
    const memory::Instructions* rows;
    std::uint32_t row, item;
  };

  SmUnit(std::uint32_t number, const memory::CacheGeometry& l1_geometry, std::uint32_t outstanding_misses,
         std::uint32_t slots)
      : sm(number), l1(l1_geometry), returns(outstanding_misses), wakes(slots) {}

  std::uint64_t time = 0;  ///< the next cycle in which something happens
  std::uint32_t sm;
  std::uint32_t slot = 0;          ///< the warp whose instruction holds the load unit
  std::uint32_t running = 0;       ///< warps
  bool holds = false;              ///< the load unit is held
  bool vacant = true;              ///< slots became free that may be filled
  bool waits = false;              ///< for a free MSHR
  bool open = false;               ///< `until` is known only when the window ends
  std::uint64_t until = 0;         ///< end of the wait
  std::uint64_t release = kNever;  ///< from then on there may be items for its free slots
  std::uint64_t since = 0;         ///< start of the wait
  std::uint64_t instructions = 0;
  std::uint64_t last_cycle = 0;
  std::uint64_t l1_hits = 0, merged = 0, mshr_stall_cycles = 0;

  SlotSet free_slots;
  TimingCache l1;
  MissReturns returns;
  WakeQueue wakes;
  SmWork work;

  std::vector<std::uint32_t> ended_items;  ///< of warps that ended in cycle `time`, not yet reported to the dispatcher

  // For the current window.
  std::vector<Issued> issued;
  std::vector<Miss> misses;
  std::vector<Waiter> waiters;                   ///< the first of each miss is its own
  std::vector<std::uint32_t> ended;              ///< slots of instructions that wait for misses
  std::vector<const memory::Request*> requests;  ///< of issued; empty: none are kept
  std::vector<Raw> raw;                          ///< of issued that are first; empty: not wanted

  /// Appends to `issued`. `offset`: in cycles from the window's first.
  void record(const memory::Transaction& transaction, std::uint8_t flags, std::uint64_t offset, std::uint32_t miss) {
    issued.push_back({transaction, static_cast<std::uint32_t>(offset), miss});
    Issued& one = issued.back();
    one.transaction.sm = static_cast<std::uint16_t>(sm);
    one.transaction.flags = flags;
  }
};

}  // namespace rayreplay::machine
