// Uploads words that are computed from host data, mostly line numbers of accesses.
//
// Contract: words are computed on all cores and uploaded in pieces, in order; host memory of one piece (at most 32 MB).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "kernels/device/device.hpp"
#include "sim/memory/caches/line_range.hpp"

namespace rayreplay::kernels {

/// `make(i)` is word i of `count`.
template <class Word, class Make>
void upload_made(Stream& stream, const Buffer& to, std::size_t count, const Make& make) {
  constexpr std::size_t kPiece = std::size_t{1} << 22U;
  constexpr std::size_t kGrain = 65536;
  std::vector<Word> made;
  for (std::size_t at = 0; at < count; at += kPiece) {
    made.resize(std::min(kPiece, count - at));
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, made.size(), kGrain), [&](const auto& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        made[i] = make(at + i);
      }
    });
    stream.upload_array(to, made, at);
  }
}

/// Size of a word that holds a line number less `range.low`.
[[nodiscard]] inline unsigned bytes_of_line(const memory::LineRange& range) {
  return range.bits() > 32 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
}

/// `line_of(i)`, less `range.low`, for i < `count`, in words of bytes_of_line.
template <class LineOf>
void upload_lines(Stream& stream, const Buffer& to, std::size_t count, const memory::LineRange& range,
                  const LineOf& line_of) {
  if (bytes_of_line(range) == sizeof(std::uint64_t)) {
    upload_made<std::uint64_t>(stream, to, count, [&](std::size_t i) { return line_of(i) - range.low; });
  } else {
    upload_made<std::uint32_t>(stream, to, count,
                               [&](std::size_t i) { return static_cast<std::uint32_t>(line_of(i) - range.low); });
  }
}

/// Number of accesses that fit into `share` of the device's free memory; `bytes_of(accesses, line_bytes)` is the need.
template <class BytesOf>
[[nodiscard]] std::uint64_t accesses_that_fit(const Device& device, double share, const BytesOf& bytes_of) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 24U;
  const double each = static_cast<double>(bytes_of(kMany, sizeof(std::uint64_t))) / kMany;
  return static_cast<std::uint64_t>(static_cast<double>(device.free_bytes()) * share / each);
}

}  // namespace rayreplay::kernels
