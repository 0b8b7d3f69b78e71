// A launch's memory instructions as a memory trace, for other tools and to be read again.
//
// Contract: a sink of raw instructions (CacheOptions::make_raw) that writes a memory trace (capture/import): one record
// an instruction, in the order in which the machine issued them; allocations, machine and frame in the header. Reading
// it again gives every SM's stream as it was, element by element. What a memory trace cannot say is lost: cycles, the
// pixel that an access is for (but for frame-buffer writes), and how transactions of instructions that several SMs
// issued at the same time alternated: read again, an instruction's transactions follow each other. Memory: one block.
// `commit` at the end; without it nothing is left behind. Errors: those of memory_trace.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "capture/import/memory_trace.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::experiment {

/// What the header of an exported trace says.
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
  std::unique_ptr<import::MemoryTraceWriter> writer_;
  import::RecordBlock block_;
  std::uint64_t records_ = 0, lanes_ = 0;
};

}  // namespace rayreplay::experiment
