// Writes a launch's memory instructions as a memory trace, for other tools and for import.
//
// Contract: a sink of raw instructions (CacheOptions::make_raw) that writes a memory trace (capture/import): one record
// an instruction, in the order of issue; allocations, machine and frame are in the header. Importing it gives every
// SM's stream unchanged, element by element, except samples of images: each of their texels is a record of its own,
// with the lanes that have so many. A memory trace cannot represent cycles, the pixel of an access (except frame-buffer
// writes), and the alternation of transactions of instructions issued at the same time by several SMs: after import an
// instruction's transactions are contiguous. Memory: one block. `commit` completes the file; without it no file is
// left. Errors: those of memory_trace.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "capture/import/memory_trace.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::experiment {

/// The header of an exported trace.
[[nodiscard]] import::TraceHeader memory_trace_header(const CacheResult& result);

class MemoryExport : public memory::InstructionSink {
 public:
  MemoryExport(const std::string& path, import::TraceForm form, bool overwrite, const import::TraceHeader& header);

  void take(std::uint32_t sm, std::uint32_t warp, std::uint64_t cycle, const memory::Instructions& raw,
            std::size_t row) override;
  void commit();

  [[nodiscard]] std::uint64_t records() const {
    return records_;
  }
  [[nodiscard]] std::uint64_t lanes() const {
    return lanes_;
  }

 private:
  void add(std::uint32_t sm, std::uint32_t warp, const memory::Instruction& instruction, std::uint64_t mask,
           const std::uint64_t* addresses);

  std::unique_ptr<import::MemoryTraceWriter> writer_;
  import::RecordBlock block_;
  std::uint64_t records_ = 0, lanes_ = 0;
};

}  // namespace rayreplay::experiment
