// Uploads words that all cores compute from host items, piece by piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "kernels/device/device.hpp"

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

}  // namespace rayreplay::kernels
