// Converts the output of NVBit's tool mem_trace to a memory trace.
//
// Contract: reads the output of mem_trace (NVBit 1.5 to 1.7, tools/mem_trace of github.com/NVlabs/NVBit):
//   MEMTRACE: CTX 0x… - LAUNCH - … - grid launch id N - grid size X,Y,Z - …
//   MEMTRACE: CTX 0x… - grid_launch_id N - CTA X,Y,Z - warp W - LDG.E.64 - 0x… (32 addresses, 0 for idle lanes)
//
// Missing data comes from `header` (SMs, allocations, names; warp size 32) and from these rules: the size is the
// opcode's (.U8 .S8 1, .U16 .S16 .16 2, .64 .F64 8, .128 16, .256 32 bytes, else 4). Atomics count as stores. The SM is
// the number of the thread block (x + X · (y + Y · z)) mod SMs, which approximates the order of the hardware. The warp
// is unique in its block. Shared memory bypasses the caches, and local memory has no addresses comparable with others:
// both are left out and counted, as are unknown opcodes. Other lines (the application's own) are counted too. Two
// processes must not print to one file. Streaming; one table entry a kernel launch. Errors: Input, with file and line;
// Input also, at the end, for a text without any line of the tool.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {

struct NvbitTally {
  std::uint64_t launches = 0;
  std::uint64_t other_lines = 0;                  ///< not of the tool
  std::uint64_t tool_lines = 0;                   ///< of the tool: launches and instructions
  std::uint64_t zero_lanes = 0;                   ///< lanes with address 0, in instructions with other addresses
  std::uint64_t shared = 0, local = 0, idle = 0;  ///< instructions left out: of that memory, or without an active lane
  std::map<std::string, std::uint64_t> unknown;   ///< instructions left out, by opcode (the part before the first dot)
};

class NvbitReader : public MemoryTraceReader {
 public:
  [[nodiscard]] virtual const NvbitTally& tally() const = 0;
};

/// `header`: Input unless its warp size is 32.
[[nodiscard]] std::unique_ptr<NvbitReader> open_nvbit_trace(const std::string& path, const TraceHeader& header);

}  // namespace rayreplay::import
