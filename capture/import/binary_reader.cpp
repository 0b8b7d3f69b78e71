#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/binary_format.hpp"
#include "capture/import/forms.hpp"

namespace rayreplay::import {
namespace {

class BinaryReader final : public MemoryTraceReader {
 public:
  explicit BinaryReader(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {
    read_header();
  }

  [[nodiscard]] const TraceHeader& header() const override {
    return header_;
  }

  bool next(RecordBlock& block) override {
    block.clear();
    if (ended_) {
      return false;
    }
    const std::string_view tag = need(4, "a block or the end");
    if (get<std::uint32_t>(tag.data()) == kEndTag) {
      read_end();
      return false;
    }
    if (get<std::uint32_t>(tag.data()) != kBlockTag) {
      damaged("this is neither a block nor the end", fmt::format("{:#010x}", get<std::uint32_t>(tag.data())),
              fmt::format("{:#010x} or {:#010x}", kBlockTag, kEndTag));
    }
    read_block(block);
    return true;
  }

  [[nodiscard]] std::string hash() const override {
    return bytes_->hash();
  }

 private:
  [[noreturn]] void damaged(const std::string& what, const std::string& found, const std::string& expected) const {
    throw Error(ErrorKind::Input, {what, where(), found, expected, "the file is damaged: copy or write it again"});
  }

  [[nodiscard]] std::string where() const {
    return fmt::format("{}: byte {}", bytes_->name(), bytes_->offset());
  }

  /// Exactly this many bytes from here.
  std::string_view need(std::size_t bytes, const char* what) {
    const std::string_view ahead = bytes_->peek(bytes);
    if (ahead.size() < bytes) {
      throw Error(ErrorKind::Input, {"the memory trace is truncated", where(), fmt::format("{} bytes", ahead.size()),
                                     fmt::format("{} bytes: {}", bytes, what), "copy or write it again"});
    }
    return ahead.substr(0, bytes);
  }

  void read_header() {
    const std::string_view prefix = need(kPrefixBytes, "the start of the file");
    const auto version = get<std::uint32_t>(prefix.data() + 8);
    const auto size = get<std::uint32_t>(prefix.data() + 12);
    const auto sum = get<std::uint64_t>(prefix.data() + 16);
    if (version != kBinaryVersion) {
      throw Error(ErrorKind::Input,
                  {"the memory trace is of another version", bytes_->name(), fmt::format("version {}", version),
                   fmt::format("version {}", kBinaryVersion), "convert it with the rayreplay that wrote it"});
    }
    if (size < kHeaderFixedBytes || size > kMaxHeaderBytes) {
      damaged("the size of the header is out of range", fmt::format("{} bytes", size),
              fmt::format("{} to {}", kHeaderFixedBytes, kMaxHeaderBytes));
    }
    bytes_->consume(kPrefixBytes);
    // In steps, so that a wrong size does not allocate more memory than the file has bytes.
    std::string payload;
    for (std::size_t done = 0; done < size;) {
      const std::size_t part = std::min<std::size_t>(size - done, std::size_t{1} << 20U);
      payload += need(part, "the header");
      bytes_->consume(part);
      done += part;
    }
    if (checksum(payload, 0) != sum) {
      damaged("the header's checksum is wrong", fmt::format("{:016x}", checksum(payload, 0)),
              fmt::format("{:016x}", sum));
    }
    parse_header(payload);
    check(header_, bytes_->name());
  }

  void parse_header(std::string_view payload) {
    const auto take = [&](std::size_t bytes) {
      if (payload.size() < bytes) {
        damaged("the header is shorter than its contents", fmt::format("{} bytes left", payload.size()),
                fmt::format("{}", bytes));
      }
      const std::string_view part = payload.substr(0, bytes);
      payload.remove_prefix(bytes);
      return part;
    };
    const auto take_text = [&] { return std::string(take(get<std::uint16_t>(take(2).data()))); };
    const std::string_view fixed = take(kHeaderFixedBytes);
    header_.warp_size = get<std::uint32_t>(fixed.data());
    header_.sms = get<std::uint32_t>(fixed.data() + 4);
    header_.width = get<std::uint32_t>(fixed.data() + 8);
    header_.height = get<std::uint32_t>(fixed.data() + 12);
    const auto allocations = get<std::uint32_t>(fixed.data() + 16);
    if (get<std::uint32_t>(fixed.data() + 20) != 0) {
      damaged("reserved bytes of the header are used", "another value", "zero");
    }
    header_.tool = take_text();
    header_.device = take_text();
    header_.application = take_text();
    for (std::uint32_t i = 0; i < allocations; ++i) {
      const std::string_view row = take(kAllocationBytes);
      TraceAllocation allocation;
      allocation.data = get<std::uint8_t>(row.data());
      if (row[1] != 0) {
        damaged("reserved bytes of an allocation are used", "another value", "zero");
      }
      allocation.element_bytes = get<std::uint32_t>(row.data() + 4);
      allocation.start = get<std::uint64_t>(row.data() + 8);
      allocation.bytes = get<std::uint64_t>(row.data() + 16);
      allocation.name = take(get<std::uint16_t>(row.data() + 2));
      header_.allocations.push_back(std::move(allocation));
    }
    if (!payload.empty()) {
      damaged("the header is longer than its contents", fmt::format("{} bytes more", payload.size()), "none");
    }
  }

  void read_block(RecordBlock& block) {
    const std::string_view head = need(kBlockHeaderBytes, "the start of a block");
    const auto records = get<std::uint32_t>(head.data() + 4);
    const auto addresses = get<std::uint32_t>(head.data() + 8);
    const auto sum = get<std::uint64_t>(head.data() + 16);
    if (records == 0 || records > kMaxBlockRecords || addresses < records ||
        addresses > std::size_t{records} * kMaxWarpSize || get<std::uint32_t>(head.data() + 12) != 0) {
      damaged("the sizes of a block are out of range", fmt::format("{} records, {} addresses", records, addresses),
              fmt::format("1 to {} records with 1 to {} addresses each", kMaxBlockRecords, kMaxWarpSize));
    }
    const std::string head_where = where();
    bytes_->consume(kBlockHeaderBytes);
    const std::size_t size = payload_bytes(records, addresses);
    const std::string_view payload = need(size, "the records of a block");
    ++blocks_;
    if (checksum(payload, blocks_) != sum) {
      damaged(fmt::format("the checksum of block {} is wrong", blocks_ - 1),
              fmt::format("{:016x}", checksum(payload, blocks_)), fmt::format("{:016x}", sum));
    }
    const char* const masks = payload.data();
    const char* const places = masks + std::size_t{records} * 8;
    const char* const warps = places + std::size_t{addresses} * 8;
    const char* const sizes = warps + std::size_t{records} * 4;
    const char* const sms = sizes + std::size_t{records} * 4;
    block.first.reserve(records + 1);
    block.first.push_back(0);
    std::uint64_t lanes = 0;
    for (std::size_t i = 0; i < records; ++i) {
      block.mask.push_back(get<std::uint64_t>(masks + i * 8));
      block.warp.push_back(get<std::uint32_t>(warps + i * 4));
      const auto bytes = get<std::uint32_t>(sizes + i * 4);
      block.bytes.push_back(bytes & ~kStoreBit);
      block.store.push_back(static_cast<std::uint8_t>(bytes >> 31U));
      block.sm.push_back(get<std::uint16_t>(sms + i * 2));
      lanes += static_cast<std::uint64_t>(std::popcount(block.mask.back()));
      block.first.push_back(static_cast<std::uint32_t>(lanes));
    }
    if (lanes != addresses) {
      damaged("the masks of a block have another number of lanes than it has addresses", fmt::format("{} lanes", lanes),
              fmt::format("{}", addresses));
    }
    block.address.resize(addresses);
    for (std::size_t a = 0; a < addresses; ++a) {
      block.address[a] = get<std::uint64_t>(places + a * 8);
    }
    for (std::size_t i = 0; i < records; ++i) {
      check_row(header_, block, i, [&] { return fmt::format("{}, record {}", head_where, records_ + i); });
    }
    records_ += records;
    addresses_ += addresses;
    bytes_->consume(size);
  }

  void read_end() {
    const std::string_view end = need(kEndBytes, "the end with its sums");
    const std::string_view summed = end.substr(0, kEndBytes - 8);
    const auto sum = get<std::uint64_t>(end.data() + kEndBytes - 8);
    if (checksum(summed, blocks_ + 1) != sum) {
      damaged("the checksum of the end is wrong, or blocks are missing",
              fmt::format("{:016x}", checksum(summed, blocks_ + 1)), fmt::format("{:016x}", sum));
    }
    const auto records = get<std::uint64_t>(end.data() + 8);
    const auto addresses = get<std::uint64_t>(end.data() + 16);
    const auto blocks = get<std::uint64_t>(end.data() + 24);
    if (records != records_ || addresses != addresses_ || blocks != blocks_) {
      damaged("the number of records is not the one stated",
              fmt::format("{} records, {} addresses, {} blocks", records_, addresses_, blocks_),
              fmt::format("{}, {} and {}", records, addresses, blocks));
    }
    bytes_->consume(kEndBytes);
    if (!bytes_->peek(1).empty()) {
      damaged("there is something behind the end", fmt::format("{} bytes or more", bytes_->peek(1).size()),
              "the end of the file");
    }
    ended_ = true;
  }

  std::unique_ptr<ByteSource> bytes_;
  TraceHeader header_;
  std::uint64_t records_ = 0, addresses_ = 0, blocks_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<MemoryTraceReader> make_binary_reader(std::unique_ptr<ByteSource> bytes) {
  return std::make_unique<BinaryReader>(std::move(bytes));
}

}  // namespace rayreplay::import
