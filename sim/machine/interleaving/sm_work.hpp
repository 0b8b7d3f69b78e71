// The work of an SM's warps between their accesses: the servers that they share, and the cycles spent so far.
//
// Contract: state only; the rules are in work_rules.hpp.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/server.hpp"
#include "sim/memory/streams/warp_work.hpp"

namespace rayreplay::machine {

/// Parts of a row of work in their order; the next one that a warp comes to.
enum class WorkPart : std::uint8_t { Tests, Shader, Rays, Compute, Access };

/// A resident warp's progress in its work.
struct WarpProgress {
  const memory::WarpWork* row = nullptr;  ///< before its next instruction, or after the last
  std::uint64_t since = 0;   ///< cycle in which its clause became ready, or its wait for the ray-tracing unit began
  std::uint64_t issued = 0;  ///< cycle of its clause's last transaction so far
  WorkPart part = WorkPart::Tests;
  WarpWait served = WarpWait::L1;  ///< the farthest source of its clause's data so far
  bool started = false;            ///< an instruction has issued
  bool last = false;               ///< the row is the one after the last instruction
};

struct SmWork {
  std::vector<Server> partitions;  ///< issue slots
  Server ray_unit;
  std::queue<std::uint32_t> ray_queue;  ///< slots of warps whose rays wait for the ray-tracing unit
  std::uint64_t rays = 0;               ///< in the unit
  std::uint64_t busy_since = 0;         ///< while warps are resident
  std::uint64_t busy = 0;               ///< cycles with warps
  StageWaits spent{};                   ///< warp-cycles

  /// The warp is in this stage and state from one cycle to another.
  void spend(memory::WorkStage stage, WarpWait state, std::uint64_t from, std::uint64_t to) {
    spent[static_cast<std::size_t>(stage)][static_cast<std::size_t>(state)] += to - from;
  }
};

}  // namespace rayreplay::machine
