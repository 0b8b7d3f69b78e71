// A machine: what a GPU is to the time model (MODELS.md §12; docs/machines.md lists every key).
//
// Contract: read from TOML; every key has a default (those of a nameless machine of today), unknown keys are Usage
// errors that name file, line and the nearest known key; numbers out of range too (no SMs, a clock of 0). Shipped
// machines are files of machines/, compiled in: `load_machine` takes the name of one or the path of a file. Figures are
// per SM (NVIDIA's SM, Intel's Xe core, AMD's work-group processor) where not said otherwise. Each shipped figure has
// its source in a comment of its file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::machine {

inline constexpr double kMostL1Bytes = 1 << 30;
inline constexpr double kMostL2Bytes = 1e12;

struct Machine {
  std::string name = "generic";
  std::string vendor;
  std::string architecture;
  std::uint32_t sms = 32;
  std::uint32_t warp_size = 32;
  std::uint32_t resident_warps = 48;  ///< most warps of an SM at once
  std::uint32_t registers = 65536;    ///< 32-bit, of an SM
  double issue_per_cycle = 4;         ///< warp instructions that an SM starts per cycle
  double clock_mhz = 1500;            ///< under load
  double rt_steps_per_cycle = 1;  ///< node visits (one wide node's boxes, or one leaf) that an SM's ray-tracing unit
                                  ///< starts per cycle, summed over its lanes
  bool software_traversal =
      false;  ///< no such unit: a warp's visits take issue slots, at that rate with all lanes busy
  double rt_step_latency_cycles = 40;    ///< of one ray's visit, when nobody else is there
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
  std::uint32_t l1_latency_cycles = 32;  ///< from issue to data, nobody else waiting
  std::uint32_t l2_latency_cycles = 200;
  std::uint32_t dram_latency_cycles = 500;
  std::uint32_t outstanding_misses = 256;  ///< of an SM: transactions that missed its L1 and have not come back
  bool reorders = false;                   ///< SER in hardware
  std::uint32_t withheld_sms = 0;          ///< that do not shade while it reorders
  double reorder_cycles = 0;               ///< fixed latency of an exchange, per warp formed
};

[[nodiscard]] Machine parse_machine(std::string_view toml, const std::string& source);
/// A shipped machine's name, or a path (anything with '/' or that ends in ".toml"). Usage names the nearest name.
[[nodiscard]] Machine load_machine(const std::string& name_or_path);
[[nodiscard]] std::vector<std::string> shipped_machines();  ///< sorted
[[nodiscard]] std::string shipped_machine_text(const std::string& name);
/// Complete; parses to the same machine.
[[nodiscard]] std::string to_toml(const Machine& machine);

/// Warps of an SM at once if every thread takes `registers_per_thread` registers: at least 1.
[[nodiscard]] std::uint32_t resident_warps(const Machine& machine, std::uint32_t warp_size,
                                           std::uint32_t registers_per_thread);

/// `live` resident warps as above. Live state moves at the share that one SM has of the memory's bandwidth (why not the
/// L2's: docs/validation.md).
[[nodiscard]] scheduler::MachineFacts facts(const Machine& machine, std::uint32_t live);

}  // namespace rayreplay::machine
