// Interleaving: whose memory access comes when (MODELS.md §12; docs/schedules.md says it at length).
//
// Contract. Time is in cycles from 0. In each cycle, in this order:
//   1. Warps whose last instruction has completed leave their slots.
//   2. Free slots are filled while queues have items (work_distribution.hpp). One queue: the SM that runs fewest warps
//      takes the next item, ties to the lowest number; a queue for each SM: each from its own. An SM takes its lowest
//      free slot. The first instruction of a warp is ready in the cycle in which it starts. An item without
//      instructions ends where it begins: its slot is still free.
//   3. SMs in ascending order, each at most one transaction. An SM whose load unit is free chooses, by the warp
//      scheduler (warp_scheduler.hpp), one of the warps whose next instruction is ready, and issues its first
//      transaction; an instruction of n transactions holds the unit for n cycles, or longer where it waits for misses.
// A warp's next instruction is ready `compute_cycles` after its last completed; a load has completed when all of its
// transactions have, a store in the cycle after its last transaction.
//
// Latencies, of a load's transaction issued in cycle c, decided by caches of the machine's geometry (exact LRU, tags by
// line, data by sector: an L1 for each SM, an L2 for all). Sectors count as present from when they are asked for, and
// as on their way until they return; those of one line that are on their way return together, with the last of them.
//   hit     all its sectors are in the L1 and have returned: completes at c + l1_latency_cycles
//   merged  all are in the L1, some on their way: when these return, not before c + l1_latency_cycles
//   miss    some are not: they are asked of the L2 and return at c + l2_latency_cycles if it has all of them (or when
//           its own line returns from memory, if that is later), else at c + dram_latency_cycles; it completes when
//           all its sectors have returned
// A miss holds one of the SM's `outstanding_misses` from c until what it asked for returns. A transaction that would
// miss while all are held waits, and the load unit with it, for the first that returns. Lines are thrown out when room
// is needed, those on their way too: what returns then serves the warps that wait for it and is not kept. A machine
// without L1: every load is a miss, and nothing merges; one without L2: memory serves what it would. Stores go through
// to the L2, need no outstanding miss and complete when issued; the L1 keeps a line that it has (as its last used one)
// and takes no new one, the L2 has the sectors written. What real caches make of the stream is sim/memory/results:
// these here are for latencies alone.
//
// Blocks reach the sink in the order of cycle, then SM; flags of loads say what happened to them (transactions.hpp).
// `raw` gets each instruction when its first transaction issues, `warp` being the item. Deterministic: the same plan,
// machine, scheduler and source give the same interleaving on every computer and for any number of threads. O(log
// resident warps) an instruction, O(1) a transaction, O(log outstanding misses) a miss, O(SMs) for as many cycles as the
// L2's latency. Memory: the
// streams of resident warps and of those about to start; 34 to 64 bytes a line of the caches. Source: Rogers, O'Connor,
// Aamodt, MICRO 2012 (warp schedulers); Aila and Laine, HPG 2009 (persistent threads). Errors: Usage for plans of
// another number of SMs or items than machine and source have, resident warps, latencies, outstanding misses or compute
// cycles out of range, geometries that do not fit the stream's lines and sectors, or no raw instructions where they are
// wanted; Resource for caches of more than 2^28 lines in all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::machine {

inline constexpr std::uint32_t kMostResidentWarps = 1024;
inline constexpr std::uint32_t kMostComputeCycles = 1'000'000;

struct InterleaveOptions {
  std::string warp_scheduler = "loose-round-robin";  ///< spec; kind "warp scheduler"
  std::uint32_t resident_warps = 32;                 ///< of an SM: 1 … kMostResidentWarps
  std::uint32_t compute_cycles = 0;                  ///< at most kMostComputeCycles
  bool cycles = false;                               ///< blocks carry cycles
  memory::InstructionSink* raw = nullptr;            ///< the source must keep raw instructions
  Progress* progress = nullptr;
};

struct InterleaveResult {
  std::uint64_t cycles = 0;        ///< until the last instruction has completed
  std::uint64_t instructions = 0;  ///< warp memory instructions
  std::uint64_t transactions = 0;
  std::uint64_t items = 0;
  // Where transactions of loads were served.
  std::uint64_t l1_hits = 0, merged = 0, l2_hits = 0, dram = 0;
  std::vector<std::uint64_t> sm_instructions;  ///< by SM
  std::vector<std::uint64_t> sm_last_cycle;    ///< by SM: when its last instruction completed
  std::uint64_t stalled_cycles = 0;            ///< SM-cycles that a load unit waited for a free outstanding miss
  std::string warp_scheduler;                  ///< resolved spec
};

[[nodiscard]] InterleaveResult interleave(memory::WarpSource& source, const WorkPlan& plan, const Machine& machine,
                                          const InterleaveOptions& options, memory::TransactionSink& sink);

}  // namespace rayreplay::machine
