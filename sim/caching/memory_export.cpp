#include "sim/caching/memory_export.hpp"

#include <array>
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
  const std::uint64_t* const address = raw.address.data() + instruction.first;
  add(sm, warp, instruction, instruction.mask, address);
  const std::size_t count = instruction.lanes();
  std::array<std::uint64_t, 64> of_piece{};
  for (std::size_t piece = 1; piece < instruction.pieces; ++piece) {
    std::uint64_t mask = 0;
    std::size_t lanes = 0, place = piece * count;
    for (std::uint64_t rest = instruction.mask; rest != 0; rest &= rest - 1, ++place) {
      if (address[place] != address[place - count]) {  // else the lane has no further piece
        mask |= rest & -rest;
        of_piece.at(lanes++) = address[place];
      }
    }
    add(sm, warp, instruction, mask, of_piece.data());
  }
}

void MemoryExport::add(std::uint32_t sm, std::uint32_t warp, const memory::Instruction& instruction, std::uint64_t mask,
                       const std::uint64_t* addresses) {
  block_.add(static_cast<std::uint16_t>(sm), warp, instruction.store, instruction.bytes, mask, addresses);
  ++records_;
  lanes_ += static_cast<std::uint64_t>(std::popcount(mask));
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
