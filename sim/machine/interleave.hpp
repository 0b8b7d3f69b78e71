// Interleaving: whose memory access comes when (MODELS.md §12).
//
// Contract: SM s has up to `resident_warps` warps; a free slot takes the next item of the SM's queue
// (work_distribution.hpp; at one time the SM with the lowest number first). An SM issues the memory instructions of its
// warps, one transaction a cycle: an instruction of n transactions holds its load unit for n cycles. A warp issues its
// next instruction when its last has completed; which of several ready warps issues is the warp scheduler's choice
// (loose round robin: the next slot in turn; greedy-then-oldest: the warp that issued last as long as it is ready, else
// the one that started first; `random`: drawn from the seed). A load completes when its last transaction has: after the
// latency of the level that has its sectors (machine.hpp: l1_, l2_, dram_latency_cycles), or when the miss that already
// waits for them returns (merged). Misses hold one of the SM's `outstanding_misses` until they return; without a free
// one the load unit waits. Stores complete when issued. `compute_cycles` pass between an instruction's completion and
// the warp's next. Levels are decided by caches of the machine's geometry (exact LRU by sector; an L2 shared by all),
// for latencies alone: what caches make of the stream is sim/memory/results. Blocks reach the sink in the order of
// cycle, then SM. Deterministic: the same plan, machine and seed give the same interleaving on every computer.
// O(accesses · log(resident warps · SMs)); memory: streams of resident warps and of those about to start. Source:
// Rogers et al., MICRO 2012 (warp schedulers); Aila and Laine, HPG 2009 (persistent threads). Errors: Usage for plans
// of another number of SMs.
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

struct InterleaveOptions {
  std::string warp_scheduler = "loose-round-robin";  ///< spec; kind "warp scheduler"
  std::uint32_t resident_warps = 32;                 ///< of an SM
  std::uint32_t compute_cycles = 0;
  bool cycles = false;                     ///< blocks carry cycles
  memory::InstructionSink* raw = nullptr;  ///< the source must keep raw instructions
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
