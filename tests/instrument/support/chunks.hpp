// The event buffer read back, straight from record.h's words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "capture/instrument/probes/record.h"

namespace rayreplay::test {

struct Chunk {
  std::uint32_t kind = 0, shader = 0, site = 0;
  std::uint64_t mask = 0;      ///< lanes that execute together
  std::uint64_t recorded = 0;  ///< of these, the recorded ones
  std::uint32_t clock = 0;
  bool wide = false, partial = false;
  std::vector<std::vector<std::uint32_t>> lanes;  ///< by recorded lane: its fields
};

/// `w0`: a chunk's first word.
[[nodiscard]] inline std::uint32_t field_count(std::uint32_t w0) {
  constexpr std::uint32_t kFields[RR_KINDS] = {1, 12, 5, 3, 1, 5, 1, 1, 1, 5, 1, 3, 2, 0, 0, 2, 3, 2, 3};
  const std::uint32_t kind = w0 & 0x1F;
  return kind == RR_PATH_BYTES || kind == RR_PATH ? 1 + (w0 >> 24 & 0x7F) : kFields[kind];
}

/// Throws on anything that record.h does not allow. `full`: the buffer, zeros at first, was full; behind the last chunk
/// that fitted are only zeros.
[[nodiscard]] inline std::vector<Chunk> read_chunks(std::span<const std::uint32_t> words, bool full = false) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) {
      throw std::runtime_error(what);
    }
  };
  std::vector<Chunk> chunks;
  const auto is_zero = [](std::uint32_t word) { return word == 0; };
  for (std::size_t at = 0; at < words.size();) {
    if (full && std::ranges::all_of(words.subspan(at), is_zero)) {
      break;
    }
    require(words.size() - at >= RR_HEADER_WORDS, "a cut header");
    Chunk chunk;
    const std::uint32_t w0 = words[at];
    chunk.kind = w0 & 0x1F;
    require(chunk.kind < RR_KINDS, "an unknown kind");
    chunk.wide = (w0 & RR_WIDE) != 0;
    chunk.partial = (w0 & RR_PARTIAL) != 0;
    chunk.shader = w0 >> 8 & 0xFFFF;
    chunk.site = w0 >> 24 | words[at + 2] >> RR_SITE_SHIFT << 8;
    chunk.mask = words[at + 1];
    const std::uint32_t n = words[at + 2] >> 20 & 0x7F;
    chunk.clock = words[at + 3];
    const std::size_t header = RR_HEADER_WORDS + (chunk.wide ? 1U : 0U) + (chunk.partial ? (chunk.wide ? 2U : 1U) : 0U);
    require(words.size() - at >= header, "a cut header");
    at += RR_HEADER_WORDS;
    if (chunk.wide) {
      chunk.mask |= std::uint64_t{words[at++]} << 32;
    }
    chunk.recorded = chunk.mask;
    if (chunk.partial) {
      chunk.recorded = words[at++];
      if (chunk.wide) {
        chunk.recorded |= std::uint64_t{words[at++]} << 32;
      }
      require(chunk.recorded != chunk.mask && (chunk.recorded & ~chunk.mask) == 0, "masks that do not fit together");
    }
    require(n > 0 && std::popcount(chunk.recorded) == static_cast<int>(n), "a wrong number of lanes");
    const std::uint32_t fields = field_count(w0);
    require(fields > 0, "an unknown kind");
    require(words.size() - at >= std::size_t{n} * fields, "a cut chunk");
    chunk.lanes.assign(n, {});
    for (std::uint32_t k = 0; k < fields; ++k) {
      for (std::uint32_t r = 0; r < n; ++r) {
        chunk.lanes[r].push_back(words[at++]);
      }
    }
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace rayreplay::test
