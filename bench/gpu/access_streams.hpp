// Streams of line numbers for the benchmarks of reuse distances and caches.
//
// Contract: by SM, one after the other: SM s has accesses [begins[s], begins[s + 1]). Deterministic for a size; made in
// parallel. `traversal`: warps of incoherent rays through a complete tree of 2^20 leaves
// (tests/support/reuse_streams.hpp, a stream of its own for every million accesses), on 80 SMs. `uniform`: one stream,
// 2^22 lines, every one as likely: the longest distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <oneapi/tbb/parallel_for.h>

#include "tests/support/reuse_streams.hpp"

namespace rayreplay::bench {

struct AccessStreams {
  std::vector<std::uint64_t> lines;
  std::vector<std::uint64_t> begins;
  std::uint64_t limit = 0;  ///< every line is below

  [[nodiscard]] unsigned bits() const {
    unsigned bits = 0;
    while (limit >> bits != 0) {
      ++bits;
    }
    return bits;
  }
  /// As one stream, SM after SM.
  [[nodiscard]] AccessStreams joined() && {
    begins = {0, lines.size()};
    return std::move(*this);
  }
};

inline AccessStreams made_in_parallel(std::size_t size, std::size_t sms,
                                      test::ReuseStream (*make)(std::size_t, std::uint64_t)) {
  constexpr std::size_t kChunk = 1000000;
  const std::size_t chunks = (size + kChunk - 1) / kChunk;
  std::vector<std::vector<std::vector<std::uint64_t>>> parts(chunks);
  std::vector<std::uint64_t> limits(chunks);
  oneapi::tbb::parallel_for(std::size_t{0}, chunks, [&](std::size_t chunk) {
    const test::ReuseStream stream = make(std::min(kChunk, size - chunk * kChunk), chunk + 1);
    parts[chunk].resize(sms);
    for (std::size_t i = 0; i < stream.line.size(); ++i) {
      parts[chunk][stream.sm[i] % sms].push_back(stream.line[i]);
    }
    limits[chunk] = stream.lines;
  });
  AccessStreams all;
  all.lines.reserve(size);
  all.begins.push_back(0);
  for (std::size_t sm = 0; sm < sms; ++sm) {
    for (const auto& part : parts) {
      all.lines.insert(all.lines.end(), part[sm].begin(), part[sm].end());
    }
    all.begins.push_back(all.lines.size());
  }
  all.limit = *std::max_element(limits.begin(), limits.end());
  return all;
}

inline AccessStreams traversal_streams(std::size_t size) {
  return made_in_parallel(size, test::kStreamSms, [](std::size_t count, std::uint64_t seed) {
    return test::incoherent_stream(count, 20, seed);
  });
}

inline AccessStreams uniform_streams(std::size_t size) {
  return made_in_parallel(
      size, 1, [](std::size_t count, std::uint64_t seed) { return test::uniform_stream(count, 1U << 22U, seed); });
}

}  // namespace rayreplay::bench
