// Builds a stream of memory instructions, and names the caches of known answers. Internal to this folder.
//
// Contract: `begin_memory`, then records in the order of issue. `cache_of` gives the settings of a known answer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {

inline constexpr std::uint64_t kDataStart = std::uint64_t{1} << 24U;  ///< a multiple of every line size

/// The header of a workload with data from kDataStart on. Usage for too many `addresses`.
[[nodiscard]] MemoryWorkload begin_memory(const std::string& name, std::uint32_t warp_size, std::uint32_t sms,
                                          std::uint64_t data_bytes, std::uint64_t addresses);

inline constexpr std::uint32_t kLineBytes = 128;  ///< of workloads that count lines
inline constexpr std::uint32_t kLineLanes = 8;    ///< lanes that read a line together, 16 bytes each
inline constexpr std::uint32_t kLineWarp = 32;    ///< lanes of a warp of these workloads

/// A warp of `sm` reads line `line` of the data.
void read_line(MemoryWorkload& workload, std::uint16_t sm, std::uint32_t warp, std::uint64_t line);

using AnswerSettings = std::vector<std::pair<std::string, std::string>>;

/// A fully associative LRU cache of whole lines.
[[nodiscard]] AnswerSettings cache_of(const std::string& level, std::uint64_t lines, std::uint32_t line_bytes);

}  // namespace rayreplay::workloads
