#include "sim/caching/imported_transactions.hpp"

#include <bit>
#include <utility>

namespace rayreplay::experiment {

using memory::DataKind;

memory::Allocations allocations_of(const import::TraceHeader& header, const std::string& path) {
  memory::Allocations allocations;
  for (const import::TraceAllocation& row : header.allocations) {
    allocations.add({row.name, static_cast<DataKind>(row.data), row.start, row.bytes, row.element_bytes}, path);
  }
  return allocations;
}

ImportedTransactions::ImportedTransactions(const import::TraceHeader& header, const memory::Allocations& allocations,
                                           const memory::CoalesceOptions& options)
    : allocations_(&allocations),
      options_(options),
      faces_(header.warp_size),
      pixels_(std::uint64_t{header.width} * header.height) {
  options_.keep_raw = false;
}

const memory::TransactionBlock& ImportedTransactions::take(const import::RecordBlock& records) {
  instructions_.clear();
  sms_.clear();
  for (std::size_t row = 0; row < records.records(); ++row) {
    add_record(records, row);
  }
  stream_.first.clear();
  stream_.transactions.clear();
  stream_.requests.clear();
  memory::coalesce(instructions_, options_, stream_);
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    for (std::uint32_t t = stream_.first[i]; t < stream_.first[i + 1]; ++t) {
      stream_.transactions[t].sm = sms_[i];
    }
  }
  std::swap(block_.transactions, stream_.transactions);
  std::swap(block_.requests, stream_.requests);
  return block_;
}

ImportedTransactions::Lane ImportedTransactions::resolve(std::uint64_t address, std::uint32_t lane,
                                                         std::span<std::uint32_t>& faces, std::uint32_t sm,
                                                         std::uint32_t warp) {
  const std::uint32_t index = allocations_->find(address, cursor_);
  if (index == memory::kNoAllocation) {
    return {DataKind::Unallocated, memory::kNoElement, memory::kNoThread};
  }
  const memory::Allocation& row = allocations_->rows()[index];
  Lane result{row.kind, allocations_->element(index, address), memory::kNoThread};
  if (row.kind == DataKind::Index || row.kind == DataKind::Vertex) {
    if (faces.empty()) {
      faces = faces_.of(sm, warp);
    }
    if (row.kind == DataKind::Index) {
      faces[lane] = result.element;
    } else if (faces[lane] != memory::kNoElement) {
      result.element = faces[lane];
    }
  } else if (row.kind == DataKind::FrameBuffer && pixels_ > 0) {
    const std::uint32_t pixel = result.element - row.first_element;
    if (pixel < pixels_) {
      result.thread = pixel;
    } else {
      ++beyond_frame_;
    }
  }
  return result;
}

void ImportedTransactions::add_record(const import::RecordBlock& records, std::size_t row) {
  lanes_.clear();
  std::uint32_t kinds = 0;
  std::span<std::uint32_t> faces;
  const std::uint64_t mask = records.mask[row];
  std::uint64_t left = mask;
  for (std::uint32_t place = records.first[row]; left != 0; ++place, left &= left - 1) {
    lanes_.push_back(resolve(records.address[place], static_cast<std::uint32_t>(std::countr_zero(left)), faces,
                             records.sm[row], records.warp[row]));
    kinds |= 1U << static_cast<std::uint32_t>(lanes_.back().kind);
  }
  for (std::size_t lowest = 0; kinds != 0; ++lowest) {
    const DataKind kind = lanes_[lowest].kind;
    if ((kinds & (1U << static_cast<std::uint32_t>(kind))) != 0) {
      kinds &= ~(1U << static_cast<std::uint32_t>(kind));
      add_instruction(records, row, kind);
    }
  }
}

void ImportedTransactions::add_instruction(const import::RecordBlock& records, std::size_t row, DataKind kind) {
  memory::Instruction instruction;
  instruction.first = static_cast<std::uint32_t>(instructions_.address.size());
  instruction.bytes = records.bytes[row];
  instruction.kind = kind;
  instruction.store = records.store[row] != 0;
  std::uint64_t left = records.mask[row];
  for (std::size_t i = 0; i < lanes_.size(); ++i, left &= left - 1) {
    if (lanes_[i].kind == kind) {
      instruction.mask |= left & (~left + 1);
      instructions_.address.push_back(records.address[records.first[row] + i]);
      instructions_.element.push_back(lanes_[i].element);
      instructions_.thread.push_back(lanes_[i].thread);
    }
  }
  instructions_.rows.push_back(instruction);
  sms_.push_back(records.sm[row]);
}

}  // namespace rayreplay::experiment
