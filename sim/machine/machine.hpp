// A machine: the GPU's parameters of the time model (MODELS.md §12; docs/machines.md lists every key).
//
// Contract: read from TOML. Every key has a default (together a typical current machine). Unknown keys are Usage errors
// with file, line and the nearest known key; so are numbers out of range (no SMs, a clock of 0) and keys that
// contradict each other. Shipped machines are files of machines/, compiled in: `load_machine` takes the name of one or
// the path of a file. Figures are per SM (NVIDIA's SM, Intel's Xe core, AMD's work-group processor) unless noted. Each
// shipped figure has its source in a comment of its file, and its origin (origin.hpp) in the table [origins]: lists of
// keys by origin. A key of a file without one has the origin given; a key that the file lacks, assumed. An origin of a
// key that the file does not set is a Usage error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/machine/origin.hpp"

namespace rayreplay::machine {

inline constexpr double kMaxL1Bytes = 1 << 30;
inline constexpr double kMaxL2Bytes = 1e12;
inline constexpr std::uint32_t kMaxIssuePartitions = 64;

struct Machine {
  std::string name = "generic";
  std::string vendor;
  std::string architecture;
  std::uint32_t sms = 32;
  std::uint32_t warp_size = 32;
  std::uint32_t resident_warps = 48;   ///< limit of an SM
  std::uint32_t registers = 65536;     ///< 32-bit, of an SM
  double issue_per_cycle = 4;          ///< warp instructions that an SM starts per cycle
  std::uint32_t issue_partitions = 4;  ///< of an SM: each starts its part of the instructions, for its own warps
  double clock_mhz = 1500;             ///< under load
  double rt_steps_per_cycle = 1;  ///< node visits (one wide node's boxes, or one leaf) that an SM's ray-tracing unit
                                  ///< starts per cycle, summed over its lanes
  double rt_boxes_per_cycle = 0;  ///< child boxes that the unit tests per cycle; 0: unknown, rt_steps_per_cycle is used
  double rt_triangles_per_cycle = 0;     ///< contents of leaves; given with the boxes, or not at all
  std::uint32_t rt_rays = 0;             ///< in flight in the unit at most; 0: no limit
  bool software_traversal = false;       ///< no such unit: visits take issue slots, at that rate with all lanes busy
  double rt_test_latency_cycles = 8;     ///< of the tests of one ray's visit: without its load, without contention
  double dram_bytes_per_second = 448e9;  ///< of the whole machine
  double l2_bytes_per_second = 1500e9;   ///< of the whole machine
  std::uint64_t l1_bytes = 128 << 10;    ///< of an SM; 0: it has none
  std::uint32_t l1_line_bytes = 128;
  std::uint32_t l1_sector_bytes = 32;
  std::uint32_t l1_ways = 64;  ///< 0: fully associative
  std::uint64_t l2_bytes = 4 << 20;
  std::uint32_t l2_line_bytes = 128;
  std::uint32_t l2_sector_bytes = 32;
  std::uint32_t l2_ways = 16;
  std::uint32_t l1_latency_cycles = 32;  ///< from issue to data, without contention
  std::uint32_t l2_latency_cycles = 200;
  std::uint32_t dram_latency_cycles = 500;
  std::uint32_t outstanding_misses = 256;  ///< of an SM: pending L1 misses (MSHRs)
  bool reorders = false;                   ///< SER in hardware
  std::uint32_t withheld_sms = 0;          ///< that do not shade while they reorder
  double reorder_cycles = 0;               ///< fixed latency of an exchange, per warp formed

  std::map<std::string, Origin, std::less<>> origins;  ///< by key; a key without an entry is assumed

  [[nodiscard]] Origin origin(std::string_view key) const {
    const auto found = origins.find(key);
    return found == origins.end() ? Origin::Assumed : found->second;
  }
};

[[nodiscard]] Machine parse_machine(std::string_view toml, const std::string& source);
/// A shipped machine's name, or a path (anything with '/' or that ends in ".toml"). Usage names the nearest name.
[[nodiscard]] Machine load_machine(const std::string& name_or_path);
[[nodiscard]] std::vector<std::string> shipped_machines();  ///< sorted
[[nodiscard]] std::string shipped_machine_text(const std::string& name);
/// Every key and its value as TOML, without origins.
[[nodiscard]] std::string to_toml(const Machine& machine);
/// Complete TOML; parses to the same machine.
[[nodiscard]] std::string to_toml_with_origins(const Machine& machine);

/// Latency of one ray's visit without contention: a load that hits the L1, and the tests.
[[nodiscard]] inline double visit_latency_cycles(const Machine& machine) {
  return machine.l1_latency_cycles + machine.rt_test_latency_cycles;
}

/// Resident warps of an SM if every thread takes `registers_per_thread` registers; at least 1.
[[nodiscard]] std::uint32_t resident_warps(const Machine& machine, std::uint32_t warp_size,
                                           std::uint32_t registers_per_thread);

/// Live state (`live_state_bytes` of a thread) moves at an SM's share of the memory bandwidth (docs/validation.md says
/// why not the L2's).
[[nodiscard]] scheduler::MachineFacts facts(const Machine& machine, std::uint32_t resident_warps,
                                            double live_state_bytes = scheduler::kAssumedLiveState);

}  // namespace rayreplay::machine
