// Streams of transactions for tests of the analysis, what it makes of them, and comparisons number by number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/results/analysis.hpp"

namespace rayreplay::memory::test {

inline constexpr std::uint32_t kElements = 300;
inline constexpr std::uint64_t kPixels = 64;

struct Shape {
  std::uint32_t sms = 5;
  std::uint64_t lines = 120;
  std::uint32_t sectors = 4;  ///< of a line
  std::uint32_t most_lanes = 32;
};

inline TransactionBlock random_block(std::size_t size, const Shape& shape, std::uint64_t seed) {
  TransactionBlock block;
  std::uint64_t next = 0;
  const auto draw = [&](std::uint64_t limit) { return split_mix(seed, next++) % limit; };
  std::uint64_t cycle = draw(100);
  for (std::size_t i = 0; i < size; ++i) {
    Transaction one;
    one.line = draw(3) == 0 ? draw(8) : draw(shape.lines);
    one.sm = static_cast<std::uint16_t>(draw(4) == 0 ? 0 : draw(shape.sms));
    one.sectors = static_cast<std::uint8_t>(1 + draw((1U << shape.sectors) - 1));
    one.lanes = static_cast<std::uint8_t>(1 + draw(shape.most_lanes));
    one.kind = static_cast<DataKind>(draw(kDataKinds));
    one.flags = draw(4) == 0 ? kStore : 0;
    block.transactions.push_back(one);
    cycle += draw(3);
    block.cycles.push_back(cycle);
    for (std::uint32_t lane = 0; lane < one.lanes; ++lane) {
      block.requests.push_back({draw(20) == 0 ? kNoElement : static_cast<std::uint32_t>(draw(kElements)),
                                draw(20) == 0 ? kNoThread : static_cast<std::uint32_t>(draw(kPixels))});
    }
  }
  return block;
}

inline AnalysisOptions options_of(const Shape& shape) {
  AnalysisOptions options;
  options.sms = shape.sms;
  options.l1 = {.bytes = std::uint64_t{16} * 128, .line_bytes = 128, .ways = 4, .sector_bytes = 32};
  options.l2 = {.bytes = std::uint64_t{48} * 128, .line_bytes = 128, .ways = 8, .sector_bytes = 32};
  options.elements = true;
  options.element_count = kElements;
  options.pixels = kPixels;
  return options;
}

struct Outcome {
  AnalysisResult result;
  std::vector<std::vector<ElementRow>> elements;
};

inline Outcome run(AnalysisOptions options, const std::vector<TransactionBlock>& blocks) {
  Outcome made;
  options.take_elements = [&](std::uint32_t window, const std::vector<ElementRow>& rows) {
    EXPECT_EQ(window, made.elements.size());
    made.elements.push_back(rows);
  };
  Analysis analysis(options);
  for (const TransactionBlock& block : blocks) {
    analysis.take(block);
  }
  made.result = analysis.finish();
  return made;
}

inline void expect_equal(const LevelSums& a, const LevelSums& b) {
  EXPECT_EQ(a.accesses, b.accesses);
  EXPECT_EQ(a.hits, b.hits);
  EXPECT_EQ(a.stores, b.stores);
  EXPECT_EQ(a.sectors, b.sectors);
  EXPECT_EQ(a.cold, b.cold);
  EXPECT_EQ(a.stored_only, b.stored_only);
  EXPECT_EQ(a.new_sectors, b.new_sectors);
  EXPECT_EQ(a.capacity, b.capacity);
  EXPECT_EQ(a.conflict, b.conflict);
  EXPECT_EQ(a.beyond, b.beyond);
  EXPECT_EQ(a.sector_misses, b.sector_misses);
  EXPECT_EQ(a.load_sectors, b.load_sectors);
  EXPECT_EQ(a.filled, b.filled);
  EXPECT_EQ(a.written, b.written);
}

inline void expect_equal(const WindowSums& a, const WindowSums& b) {
  EXPECT_EQ(a.first_request, b.first_request);
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.first_cycle, b.first_cycle);
  EXPECT_EQ(a.last_cycle, b.last_cycle);
  EXPECT_EQ(a.dram_read_bytes, b.dram_read_bytes);
  EXPECT_EQ(a.dram_write_bytes, b.dram_write_bytes);
  ASSERT_EQ(a.sms.size(), b.sms.size());
  for (std::size_t level = 0; level < kLevels; ++level) {
    SCOPED_TRACE("L" + std::to_string(level + 1));
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      expect_equal(a.levels[level][kind], b.levels[level][kind]);
    }
    for (std::size_t sm = 0; sm < a.sms.size(); ++sm) {
      expect_equal(a.sms[sm][level], b.sms[sm][level]);
    }
  }
}

inline void expect_equal(const RequestSums& a, const RequestSums& b) {
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.l1_hits, b.l1_hits);
  EXPECT_EQ(a.l2_hits, b.l2_hits);
  EXPECT_EQ(a.l2_requests, b.l2_requests);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.last, b.last);
}

inline void expect_equal(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.result.transactions, b.result.transactions);
  EXPECT_EQ(a.result.requests, b.result.requests);
  EXPECT_EQ(a.result.unallocated, b.result.unallocated);
  ASSERT_EQ(a.result.windows.size(), b.result.windows.size());
  for (std::size_t i = 0; i < a.result.windows.size(); ++i) {
    SCOPED_TRACE("window " + std::to_string(i));
    expect_equal(a.result.windows[i], b.result.windows[i]);
  }
  expect_equal(a.result.total, b.result.total);
  for (std::size_t level = 0; level < kLevels; ++level) {
    EXPECT_EQ(a.result.levels[level].counts, b.result.levels[level].counts) << level;
    EXPECT_EQ(a.result.levels[level].histogram, b.result.levels[level].histogram) << level;
    EXPECT_TRUE(a.result.levels[level].parts == b.result.levels[level].parts) << level;
    EXPECT_EQ(a.result.levels[level].caches, b.result.levels[level].caches) << level;
  }
  ASSERT_EQ(a.result.pixels.size(), b.result.pixels.size());
  for (std::size_t i = 0; i < a.result.pixels.size(); ++i) {
    expect_equal(a.result.pixels[i].requests, b.result.pixels[i].requests);
    EXPECT_EQ(a.result.pixels[i].bytes, b.result.pixels[i].bytes) << i;
    EXPECT_EQ(a.result.pixels[i].written, b.result.pixels[i].written) << i;
  }
  ASSERT_EQ(a.elements.size(), b.elements.size());
  for (std::size_t window = 0; window < a.elements.size(); ++window) {
    ASSERT_EQ(a.elements[window].size(), b.elements[window].size()) << window;
    for (std::size_t i = 0; i < a.elements[window].size(); ++i) {
      EXPECT_EQ(a.elements[window][i].window, b.elements[window][i].window);
      EXPECT_EQ(a.elements[window][i].element, b.elements[window][i].element);
      expect_equal(a.elements[window][i].sums, b.elements[window][i].sums);
    }
  }
}

}  // namespace rayreplay::memory::test
