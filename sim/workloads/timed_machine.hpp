// What closed forms of memory time read of a machine. Internal to this folder.
//
// Contract: `TimedMachine` has a machine's numbers as cycles of one line. A line is that of the load unit: the L1's, or
// the L2's on a machine without an L1. Services are rounded to 2^-20 cycles, the simulation's clock. `LoadLoop` is the
// one law behind the forms: an SM that keeps `slots` loads in flight, each of which takes `latency` and follows the one
// before by at least `turn` cycles, has its i-th answer (from 0) at
//   latency + ⌊ q · max(latency, slots · turn) + r · turn + later ⌋    q = ⌊i / slots⌋, r = i mod slots.
// That is Little's law: slots / latency loads a cycle as long as slots are few, 1 / turn once the server is the
// bottleneck. O(1). Source: J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9 (1961).
#pragma once

#include <cstdint>
#include <string>

#include "sim/machine/machine.hpp"
#include "sim/workloads/memory_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {

struct TimedMachine {
  explicit TimedMachine(const machine::Machine& of);

  std::uint32_t sms, partitions, resident_warps, misses;
  bool has_l1, has_l2;
  std::uint64_t l2_bytes;
  std::uint32_t line_bytes, sector_bytes;
  std::uint64_t apart;                          ///< lines from one line of the L2 to the next
  std::uint64_t fetched_bytes;                  ///< that DRAM serves for a line
  double l1_latency, l2_latency, dram_latency;  ///< cycles
  double l2_service, dram_service;              ///< cycles of a line; 0 of an L2 that is not there
  double issue_of_sm, issue_per_cycle;          ///< of an SM, of a partition
  double steps_per_cycle, boxes_per_cycle, triangles_per_cycle;
  bool software_traversal;
  double test_latency;  ///< whole cycles
  std::uint32_t warp_size, rays;

  /// Of a load that goes to DRAM, through the L2: the slower of the two.
  [[nodiscard]] double load_service() const;
  /// Cycles from one load of an SM to its next where `together` SMs ask in the same cycles: a load unit issues one.
  [[nodiscard]] double load_turn(std::uint32_t together) const;
  /// Cycles that a warp's shader instructions keep its partition.
  [[nodiscard]] double issue_service(double instructions) const;
  /// Cycles that tests of so many nodes, boxes and triangles keep the ray-tracing unit, or the partition in software.
  [[nodiscard]] double test_service(double visits, double boxes, double triangles) const;
  /// From begin to end of tests whose server is free.
  [[nodiscard]] double test_time(double service) const;
};

struct LoadLoop {
  double latency = 0;
  double turn = 0;
  std::uint64_t slots = 1;
  double later = 0;  ///< of the SM that comes last in a cycle
  double service = 0;

  /// The server of load `i` begins, without the rounding to cycles.
  [[nodiscard]] double begins(std::uint64_t i) const;
  [[nodiscard]] double answer(std::uint64_t i) const;
  /// Of a launch whose last load is `i`: its answer, or the server's end.
  [[nodiscard]] double ends(std::uint64_t i) const;
  /// Cycles by which rounding can move the answer: one a round where the server has a fraction of a cycle and is idle,
  /// or hardly busy, at the end of rounds; else none.
  [[nodiscard]] double rounding(std::uint64_t i) const;
};

/// Loads of different lines: `together` SMs that each keep `slots` in flight, as far as their MSHRs allow.
[[nodiscard]] LoadLoop loads_from_dram(const TimedMachine& machine, std::uint64_t slots, std::uint32_t together);

/// In whole 2^-20 cycles, at least one.
[[nodiscard]] double in_ticks(double cycles);

/// Settings of memory time in which the forms hold.
[[nodiscard]] AnswerSettings memory_time();

/// The one answer of a workload that has none on this machine.
[[nodiscard]] std::vector<KnownAnswer> not_on_this_machine(std::string why);

/// Why an SM of the machine does not hold so many warps; "": it does.
[[nodiscard]] std::string too_many_warps(const TimedMachine& machine, std::uint64_t warps);

}  // namespace rayreplay::workloads
