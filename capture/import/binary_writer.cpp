#include <algorithm>

#include "capture/import/binary_format.hpp"
#include "capture/import/forms.hpp"

namespace rayreplay::import {
namespace {

void put_text(std::string& to, const std::string& text) {
  put(to, static_cast<std::uint16_t>(text.size()));
  to += text;
}

std::string header_bytes(const TraceHeader& header) {
  std::string to;
  for (const std::uint32_t number : {header.warp_size, header.sms, header.width, header.height,
                                     static_cast<std::uint32_t>(header.allocations.size()), 0U}) {
    put(to, number);
  }
  put_text(to, header.tool);
  put_text(to, header.device);
  put_text(to, header.application);
  for (const TraceAllocation& row : header.allocations) {
    put(to, row.data);
    put(to, std::uint8_t{0});
    put(to, static_cast<std::uint16_t>(row.name.size()));
    put(to, row.element_bytes);
    put(to, row.start);
    put(to, row.bytes);
    to += row.name;
  }
  return to;
}

class BinaryWriter final : public MemoryTraceWriter {
 public:
  BinaryWriter(std::unique_ptr<TraceOutput> output, const TraceHeader& header) : output_(std::move(output)) {
    const std::string payload = header_bytes(header);
    std::string bytes(kBinaryMagic);
    put(bytes, kBinaryVersion);
    put(bytes, static_cast<std::uint32_t>(payload.size()));
    put(bytes, checksum(payload, 0));
    output_->write(bytes + payload);
  }

  void append(const RecordBlock& block) override {
    for (std::size_t begin = 0; begin < block.records(); begin += kMaxBlockRecords) {
      write_block(block, begin, std::min(block.records(), begin + kMaxBlockRecords));
    }
  }

  void commit() override {
    std::string bytes;
    put(bytes, kEndTag);
    put(bytes, std::uint32_t{0});
    put(bytes, records_);
    put(bytes, addresses_);
    put(bytes, blocks_);
    put(bytes, checksum(bytes, blocks_ + 1));
    output_->write(bytes);
    output_->commit();
  }

 private:
  void write_block(const RecordBlock& block, std::size_t begin, std::size_t end) {
    payload_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      put(payload_, block.mask[i]);
    }
    for (std::uint32_t a = block.first[begin]; a < block.first[end]; ++a) {
      put(payload_, block.address[a]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      put(payload_, block.warp[i]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      put(payload_, block.bytes[i] | (block.store[i] != 0 ? kStoreBit : 0));
    }
    for (std::size_t i = begin; i < end; ++i) {
      put(payload_, block.sm[i]);
    }
    const std::uint32_t addresses = block.first[end] - block.first[begin];
    ++blocks_;
    std::string head;
    put(head, kBlockTag);
    put(head, static_cast<std::uint32_t>(end - begin));
    put(head, addresses);
    put(head, std::uint32_t{0});
    put(head, checksum(payload_, blocks_));
    output_->write(head);
    output_->write(payload_);
    records_ += end - begin;
    addresses_ += addresses;
  }

  std::unique_ptr<TraceOutput> output_;
  std::string payload_;
  std::uint64_t records_ = 0, addresses_ = 0, blocks_ = 0;
};

}  // namespace

std::unique_ptr<MemoryTraceWriter> make_binary_writer(std::unique_ptr<TraceOutput> output, const TraceHeader& header) {
  return std::make_unique<BinaryWriter>(std::move(output), header);
}

}  // namespace rayreplay::import
