// One chunk of the device's records (probes/record.h), taken apart. Internal to this room.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "capture/instrument/probes/record.h"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// Fields of each recorded lane, by kind; chunks of paths say how many they have.
inline constexpr std::array<std::uint8_t, RR_KINDS> kFields{1, 12, 5, 3, 1, 5, 1, 1, 1, 5, 1, 3, 2, 0, 0, 2, 3, 2, 3};
inline constexpr std::uint32_t kGreatestHeader = 7;
inline constexpr std::uint32_t kGreatestChunk = kGreatestHeader + 64 * RR_MAX_FIELDS;

[[nodiscard]] constexpr std::uint8_t bit_of(trace::ShaderStage stage) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(stage));
}

/// Whether a record holds a path.
[[nodiscard]] constexpr bool is_path(std::uint32_t kind) {
  return kind == RR_PATH_BYTES || kind == RR_PATH;
}

/// Whether a record holds an access to a buffer or image.
[[nodiscard]] constexpr bool is_access(std::uint32_t kind) {
  return kind == RR_ACCESS_OFFSET || kind == RR_ACCESS_ADDRESS || kind == RR_ACCESS_IMAGE;
}

/// Stages whose shaders append records of this kind.
[[nodiscard]] constexpr std::uint8_t stages_of(std::uint32_t kind) {
  using trace::ShaderStage;
  switch (kind) {
    case RR_RAY_GENERATION:
    case RR_REORDER:
      return bit_of(ShaderStage::RayGeneration);
    case RR_TRACE:
    case RR_EXECUTE:
    case RR_HINT:
      return bit_of(ShaderStage::RayGeneration) | bit_of(ShaderStage::ClosestHit) | bit_of(ShaderStage::Miss);
    case RR_INTERSECTION:
    case RR_REPORT:
    case RR_REPORT_REJECTED:
      return bit_of(ShaderStage::Intersection);
    case RR_ANY_HIT:
    case RR_IGNORE:
    case RR_TERMINATE:
      return bit_of(ShaderStage::AnyHit);
    case RR_MISS:
      return bit_of(ShaderStage::Miss);
    case RR_CLOSEST_HIT:
      return bit_of(ShaderStage::ClosestHit);
    case RR_CALLABLE:
      return bit_of(ShaderStage::Callable);
    case RR_PATH_BYTES:
    case RR_PATH:
    case RR_ACCESS_OFFSET:
    case RR_ACCESS_ADDRESS:
    case RR_ACCESS_IMAGE:
      return (1U << trace::kRayTracingStages) - 1;
    default:
      return 0;
  }
}

/// Whether the trace has an event for records of this kind, and so a co-execution group.
[[nodiscard]] constexpr bool makes_event(std::uint32_t kind) {
  return kind != RR_RAY_GENERATION && kind != RR_REPORT_REJECTED && kind != RR_EXECUTE && kind != RR_HINT &&
         !is_path(kind) && !is_access(kind);
}

/// A chunk's header. `words` points at the chunk; only the header has been read.
struct Chunk {
  const std::uint32_t* words = nullptr;
  std::uint32_t kind = 0;
  std::uint16_t shader = 0;
  std::uint8_t site = 0;
  std::uint32_t header = 0;  ///< words of the header
  std::uint32_t lanes = 0;   ///< n
  std::uint64_t mask = 0;    ///< lanes that execute the call together
  std::uint64_t recorded = 0;

  [[nodiscard]] std::uint32_t field(std::uint32_t k, std::uint32_t rank) const {
    return words[header + k * lanes + rank];
  }
  [[nodiscard]] float real(std::uint32_t k, std::uint32_t rank) const {
    return std::bit_cast<float>(field(k, rank));
  }
  /// Of each recorded lane.
  [[nodiscard]] std::uint32_t fields() const {
    return is_path(kind) ? 1U + path_words() : kFields[kind];
  }
  [[nodiscard]] std::uint32_t size() const {
    return header + lanes * fields();
  }
  /// Paths: words behind the thread, and whether a later record of the call may replace this one.
  [[nodiscard]] std::uint32_t path_words() const {
    return site & 0x7FU;
  }
  /// Accesses: number of the site in its module.
  [[nodiscard]] std::uint32_t access_site() const {
    return site | words[2] >> RR_SITE_SHIFT << 8U;
  }
  /// Accesses: the recorded address; 64 bits but of offsets.
  [[nodiscard]] std::uint64_t address(std::uint32_t rank) const {
    return field(1, rank) | (kind == RR_ACCESS_OFFSET ? 0U : std::uint64_t{field(2, rank)} << 32U);
  }
  /// Whether it is an access to an image without a texel that a record can hold.
  [[nodiscard]] bool has_no_texel(std::uint32_t rank) const {
    return kind == RR_ACCESS_IMAGE && field(1, rank) == RR_NO_TEXEL && field(2, rank) == RR_NO_TEXEL;
  }
  [[nodiscard]] bool goes_on() const {
    return (site & 0x80U) != 0;
  }
  [[nodiscard]] std::uint16_t sm() const {
    return static_cast<std::uint16_t>(words[2] & 0xFFFU);
  }
  [[nodiscard]] std::uint32_t clock() const {
    return words[3];
  }
};

[[nodiscard]] constexpr std::uint32_t header_words(std::uint32_t w0) {
  const std::uint32_t wide = (w0 & RR_WIDE) != 0 ? 1 : 0;
  const std::uint32_t partial = (w0 & RR_PARTIAL) != 0 ? 1 + wide : 0;
  return RR_HEADER_WORDS + wide + partial;
}

/// `words` must have header_words(words[0]) words; the kind must exist before `size` or `field` is asked for.
[[nodiscard]] inline Chunk parse_header(const std::uint32_t* words) {
  Chunk chunk;
  chunk.words = words;
  chunk.kind = words[0] & 0x1FU;
  chunk.shader = static_cast<std::uint16_t>(words[0] >> 8U);
  chunk.site = static_cast<std::uint8_t>(words[0] >> 24U);
  chunk.header = header_words(words[0]);
  chunk.lanes = words[2] >> 20U & 0x7FU;
  chunk.mask = words[1];
  const bool wide = (words[0] & RR_WIDE) != 0;
  if (wide) {
    chunk.mask |= std::uint64_t{words[4]} << 32U;
  }
  chunk.recorded = chunk.mask;
  if ((words[0] & RR_PARTIAL) != 0) {
    const std::uint32_t at = wide ? 5 : 4;
    chunk.recorded = words[at] | (wide ? std::uint64_t{words[at + 1]} << 32U : 0U);
  }
  return chunk;
}

}  // namespace rayreplay::ingest
