#include "sim/caching/memory_export.hpp"

#include <bit>

#include <fmt/format.h>

namespace rayreplay::experiment {

static_assert(import::kDataValues + 1 == memory::kDataKinds, "every kind but 'unallocated'");

import::TraceHeader memory_trace_header(const CacheResult& result){import::TraceHeader header;
header.tool = fmt::format("rayreplay {}", RAYREPLAY_VERSION);
header.device = fmt::format("machine model '{}'", result.machine.name);
header.application = result.application;
header.warp_size = result.warp_size;
header.sms = result.machine.sms;
header.width = result.size.width;
header.height = result.size.height * result.size.depth;
for (const memory::Allocation& row : result.allocations.rows()) {
  header.allocations.push_back(
      {row.name, static_cast<std::uint8_t>(row.kind), row.start, row.bytes, row.element_bytes});
}
return header;
}  // namespace rayreplay::experiment

MemoryExport::MemoryExport(const std::string& path, import::TraceForm form, bool overwrite,
                           const import::TraceHeader& header)
    : writer_(import::create_memory_trace(path, form, overwrite, header)) {}

void MemoryExport::take(std::uint32_t sm, std::uint32_t warp, std::uint64_t /*cycle*/, const memory::Instructions& raw,
                        std::size_t row) {
  const memory::Instruction& instruction = raw.rows[row];
  block_.add(static_cast<std::uint16_t>(sm), warp, instruction.store, instruction.bytes, instruction.mask,
             raw.address.data() + instruction.first);
  ++records_;
  lanes_ += static_cast<std::uint64_t>(std::popcount(instruction.mask));
  if (block_.records() == import::kMaxBlockRecords) {
    writer_->append(block_);
    block_.clear();
  }
}

void MemoryExport::commit() {
  if (block_.records() > 0) {
    writer_->append(block_);
    block_.clear();
  }
  writer_->commit();
}

}  // namespace rayreplay::experiment
