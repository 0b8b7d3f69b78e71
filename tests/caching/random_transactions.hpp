// Recorded streams at random, for tests: several SMs that follow one another, loads and stores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/caching/grid/recorded_stream.hpp"

namespace rayreplay::test {

struct TransactionShape {
  std::uint32_t sms = 3;
  std::size_t size = 4000;
  std::uint32_t line_bytes = 128;
  std::uint32_t sector_bytes = 32;
  std::uint64_t lines = 600;
  std::uint64_t stores = 5;  ///< one of so many; 0: none
  bool stores_apart = true;  ///< to lines of their own
};

inline experiment::RecordedStream random_transactions(const TransactionShape& shape, std::uint64_t seed) {
  experiment::RecordedStream stream;
  stream.coalescing = {.line_bytes = shape.line_bytes, .sector_bytes = shape.sector_bytes};
  stream.sms = shape.sms;
  stream.cycles = seed * 1000;
  stream.instructions = shape.size / 2;
  std::uint64_t number = 0;
  const auto below = [&](std::uint64_t limit) { return split_mix(seed, number++) % limit; };
  std::vector<std::uint64_t> lately{0};
  for (std::size_t i = 0; i < shape.size; ++i) {
    const std::uint64_t line = below(3) == 0
                                   ? below(shape.lines)
                                   : lately[lately.size() - 1 - below(std::min<std::uint64_t>(lately.size(), 60))];
    lately.push_back(line);
    const bool store = shape.stores != 0 && below(shape.stores) == 0;
    memory::Transaction one;
    one.line = 1000 + line + (store && shape.stores_apart ? shape.lines : 0);
    one.sm = static_cast<std::uint16_t>(below(shape.sms));
    one.sectors = static_cast<std::uint8_t>(1 + below((1U << (shape.line_bytes / shape.sector_bytes)) - 1));
    one.lanes = static_cast<std::uint8_t>(1 + below(32));
    one.kind = static_cast<memory::DataKind>(below(memory::kDataKinds));
    one.flags = static_cast<std::uint8_t>(store ? memory::kStore : 0);
    one.bytes = static_cast<std::uint16_t>(1 + below(shape.line_bytes));
    stream.transactions.push_back(one);
  }
  return stream;
}

}  // namespace rayreplay::test
