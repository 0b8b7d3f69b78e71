// Memory traces made up for tests.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/import/memory_trace.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

inline import::TraceHeader some_header(std::uint32_t warp_size = 32) {
  import::TraceHeader header;
  header.tool = "made up";
  header.device = "a GPU with 4 SMs";
  header.application = "viewer --scene \"dragon # 3\"";
  header.warp_size = warp_size;
  header.sms = 4;
  header.width = 16;
  header.height = 8;
  header.allocations = {{"blas 0 nodes", 0, 0x10000, 64 * 1024, 64},
                        {"indices", 1, 0x20000, 12 * 1000, 12},
                        {"", 2, 0x30000, 4096, 16},
                        {"frame buffer", 8, 0xFFFF'FFFF'0000'0000U, 2048, 16}};
  return header;
}

/// In range, with some addresses outside every allocation.
inline import::RecordBlock some_records(const import::TraceHeader& header, std::size_t count, Random& random) {
  import::RecordBlock block;
  const std::uint64_t lanes = header.warp_size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << header.warp_size) - 1;
  constexpr std::uint32_t kSizes[] = {1, 2, 4, 8, 12, 16, 64};
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t mask = random.bits() & lanes;
    if (random.one_in(3)) {
      mask = lanes;
    }
    if (mask == 0) {
      mask = 1;
    }
    std::vector<std::uint64_t> addresses;
    for (int n = std::popcount(mask); n > 0; --n) {
      const auto& row = header.allocations[random.below(header.allocations.size())];
      addresses.push_back(random.one_in(10) ? random.bits() % 0x8000'0000
                                            : row.start + random.below(static_cast<std::uint32_t>(row.bytes)));
    }
    block.add(static_cast<std::uint16_t>(random.below(header.sms)), static_cast<std::uint32_t>(random.below(100)),
              random.one_in(4), kSizes[random.below(std::size(kSizes))], mask, addresses.data());
  }
  return block;
}

struct WholeTrace {
  import::TraceHeader header;
  import::RecordBlock records;
  std::string hash;
};

inline WholeTrace read_whole(const std::string& path) {
  const auto reader = import::open_memory_trace(path);
  WholeTrace whole;
  whole.header = reader->header();
  import::RecordBlock block;
  while (reader->next(block)) {
    for (std::size_t i = 0; i < block.records(); ++i) {
      whole.records.add(block.sm[i], block.warp[i], block.store[i] != 0, block.bytes[i], block.mask[i],
                        block.address.data() + block.first[i]);
    }
  }
  whole.hash = reader->hash();
  return whole;
}

inline void write_whole(const std::string& path, import::TraceForm form, const import::TraceHeader& header,
                        const import::RecordBlock& records) {
  const auto writer = import::create_memory_trace(path, form, true, header);
  writer->append(records);
  writer->commit();
}

}  // namespace rayreplay::test
