// Interleaving: the order in time of all warps' memory accesses (MODELS.md §12; docs/schedules.md has the details).
//
// Contract. Time is in cycles from 0. Each cycle has three steps, in this order:
//   1. Warps whose last instruction has completed leave their slots.
//   2. Free slots are filled while the dispatcher has items for them (dispatcher.hpp): a work plan's queues, or warps
//      of a scheduler model. SMs take their own items first; then the SM with the fewest warps takes the next shared
//      one, ties to the lowest number. An SM fills its lowest free slot. The first instruction of a warp is ready in
//      the cycle in which it starts. An item without instructions ends immediately, and its slot is still free.
//   3. SMs in ascending order, each at most one transaction. If an SM's load unit is free, the warp scheduler
//      (warp_scheduler.hpp) chooses a warp with a ready instruction and issues its first transaction. An instruction of
//      n transactions holds the unit for n cycles, longer if it waits for misses.
//
// A warp's next instruction is ready `compute_cycles` after its last completed. A load completes with the last of its
// transactions, a store in the cycle after its last transaction.
//
// Latency of a load's transaction issued in cycle c: caches of the machine's geometry decide (exact LRU, tags by line,
// data by sector; an L1 for each SM, an L2 for all). A sector counts as present from its request on, and as pending
// until it returns. Pending sectors of one line return together, with the last of them.
//   hit     all sectors are in the L1 and have returned: completes at c + l1_latency_cycles
//   merged  all are in the L1, some pending: completes when these return, not before c + l1_latency_cycles
//   miss    some are missing: they are requested from the L2 and return at c + l2_latency_cycles if it has all of them
//           (or when its own line returns from DRAM, if that is later), else at c + dram_latency_cycles; completes
//           when all sectors have returned
//
// A miss holds one of the SM's `outstanding_misses` MSHRs (miss-status holding registers) from c until its sectors
// return. If all are held, the transaction that would miss waits for the first return, and the load unit with it.
// Pending lines may be evicted: the returning data then serves the waiting warps and is not kept. Without an L1 every
// load is a miss, and nothing merges; without an L2 DRAM serves the misses. Stores write through to the L2, need no
// MSHR and complete when issued. The L1 keeps a stored line that it has (as most recently used) and allocates none; the
// L2 then has the written sectors. These caches decide latencies only; hit rates of real caches come from
// sim/memory/results.
//
// With `work` the interleaving is a model of time: warps compute and traverse between their accesses, L2 and DRAM
// have bandwidth, and the result splits all cycles. The differences:
//   rows       A warp does a row of work before each instruction and after the last (warp_work.hpp; its parts and their
//              times: interleaving/work_rules.hpp). The first row begins after the warp's `start_delay`, the others
//              when the instruction before them has completed; compute_cycles are the last part of a row. After its
//              last row the warp ends. An item whose rows take no time ends immediately. In a cycle, warps that wait
//              for it go on in the order of slots; then warps start.
//   clauses    An instruction whose row `follows` is ready in the cycle after the last transaction of the one before.
//              An instruction and those that follow it are a clause, which completes as one.
//   bandwidth  A miss waits until the L2 has served the bytes of earlier misses and stores; sectors that the L2 lacks
//              then wait in the same way for DRAM. The wait comes on top of the latency (memory_bandwidth.hpp).
//              Stored sectors of the L2 are dirty. The dirty sectors that a request evicts are written back: they take
//              DRAM bandwidth, all at once, after the sectors that the request fetches, and no warp waits for them.
//              Sectors still dirty at the end stay in the L2. The launch ends when its last warp has ended and L2 and
//              DRAM have served everything, stores and writebacks included. So no server is busy for longer than the
//              launch takes.
//   states     A resident warp is in one state in every cycle (WarpWait). While its clause is ready and not all
//              transactions have issued, the state is LoadUnit; from then until the clause completes, it is that of the
//              farthest data: Dram, L2, Merged, or L1 (also stores). The warp is also in one stage of the
//              ray-tracing pipeline (work_stage.hpp): the stage of its clause or shader instructions; Traversal while
//              its rays wait for the ray-tracing unit or are tested; Exchange during its delay. The cycles of all
//              stages and those of all states have the same sum.
//
// The sink gets blocks by cycle, then SM; flags of loads give their outcome (transactions.hpp). `raw` gets each
// instruction when its first transaction issues, `warp` being the item. Deterministic: the same plan, machine,
// scheduler and source give the same interleaving on every computer and for any number of threads. O(log resident
// warps) an instruction, O(1) a transaction, O(log MSHRs) a miss, O(SMs) for each L2 latency of time.
// Memory: the streams of resident warps and of those about to start; 34 to 64 bytes a line of the caches. Source:
// Rogers, O'Connor, Aamodt, MICRO 2012 (warp schedulers); Aila and Laine, HPG 2009 (persistent threads). Errors: Usage
// for dispatchers whose SMs or items differ from machine and source; for resident warps, latencies, outstanding_misses
// or compute cycles out of range; for geometries that do not fit the stream's lines and sectors; for missing raw
// instructions; with `work`, for missing work, rates out of range, only one of the rates of boxes and triangles, and
// delays of another number of items. Resource for caches of more than 2^28 lines in all and for times beyond 2^42
// cycles. Internal for a dispatcher that withholds items for ever and for streams that break their contract.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "sim/machine/dispatcher.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/time_history.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/warp_source.hpp"
#include "sim/memory/streams/work_stage.hpp"

namespace rayreplay::machine {

inline constexpr std::uint32_t kMaxResidentWarps = 1024;
inline constexpr std::uint32_t kMaxComputeCycles = 1'000'000;

struct InterleaveOptions {
  std::string warp_scheduler = "loose-round-robin";  ///< spec; kind "warp scheduler"
  std::uint32_t resident_warps = 32;                 ///< of an SM: 1 … kMaxResidentWarps
  std::uint32_t compute_cycles = 0;                  ///< at most kMaxComputeCycles
  bool work = false;                                 ///< memory time: streams have work
  /// With `work`, by item: cycles that it waits for its exchange; empty: none. For items that form while the
  /// interleaving runs, the last value holds.
  std::span<const std::uint32_t> start_delay{};
  bool cycles = false;                     ///< blocks carry cycles
  memory::InstructionSink* raw = nullptr;  ///< the source must keep raw instructions
  TimeHistory* history = nullptr;          ///< with `work`: finished with the result; null: not wanted
  Progress* progress = nullptr;
};

/// States of a resident warp. In every cycle it is in one of them.
enum class WarpWait : std::uint8_t { Reorder, Issue, Traversal, LoadUnit, L1, Merged, L2, Dram };
inline constexpr std::size_t kWarpWaits = 8;

/// The cycles of one SM.
struct SmTime {
  std::array<std::uint64_t, kWarpWaits> waits{};  ///< warp-cycles by state: their sum is that of all warps' lives
  std::uint64_t busy = 0;                         ///< with at least one warp
  std::uint64_t barrier = 0;                      ///< without warps, before the end of its last one
  std::uint64_t idle = 0;                         ///< after that; busy + barrier + idle = cycles of the launch

  bool operator==(const SmTime&) const = default;
};

/// Warp-cycles by stage of the pipeline and state.
using StageWaits = std::array<std::array<std::uint64_t, kWarpWaits>, memory::kWorkStages>;

/// Memory time.
struct MemoryTime {
  std::vector<SmTime> sms;
  StageWaits stages{};                         ///< of all SMs
  std::uint64_t l2_bytes = 0, dram_bytes = 0;  ///< served
  std::uint64_t dram_written_bytes = 0;        ///< part of dram_bytes: writebacks of the L2; without one, stores
  memory::WarpCalls calls;                     ///< of the warps that ran
  // Cycles of service, summed over SMs and partitions where there are several.
  double issue_cycles = 0, ray_unit_cycles = 0, l2_cycles = 0, dram_cycles = 0;
};

struct InterleaveResult {
  std::uint64_t cycles = 0;        ///< until the last instruction has completed; with `work` until the launch ends
  std::uint64_t instructions = 0;  ///< warp memory instructions
  std::uint64_t transactions = 0;
  std::uint64_t items = 0;
  // Where transactions of loads were served.
  std::uint64_t l1_hits = 0, merged = 0, l2_hits = 0, dram = 0;
  std::vector<std::uint64_t> sm_instructions;  ///< by SM
  std::vector<std::uint64_t> sm_last_cycle;    ///< by SM: until its last instruction has completed, or warp ended
  std::uint64_t mshr_stall_cycles = 0;         ///< SM-cycles in which a load unit waited for a free MSHR
  std::string warp_scheduler;                  ///< resolved spec
  MemoryTime time;                             ///< with `work`
};

[[nodiscard]] InterleaveResult interleave(memory::WarpSource& source, Dispatcher& dispatcher, const Machine& machine,
                                          const InterleaveOptions& options, memory::TransactionSink& sink);

/// The queues of a work plan.
[[nodiscard]] InterleaveResult interleave(memory::WarpSource& source, const WorkPlan& plan, const Machine& machine,
                                          const InterleaveOptions& options, memory::TransactionSink& sink);

}  // namespace rayreplay::machine
