// Layout of the binary form. Internal to this folder; docs/memory-traces.md describes it for users.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {

inline constexpr std::uint32_t kBlockTag = 0x4B434C42;  ///< "BLCK"
inline constexpr std::uint32_t kEndTag = 0x21444E45;    ///< "END!"
inline constexpr std::uint32_t kStoreBit = 1U << 31U;   ///< of a record's bytes

inline constexpr std::size_t kPrefixBytes = 24;       ///< magic, version, header bytes, checksum of the header
inline constexpr std::size_t kBlockHeaderBytes = 24;  ///< tag, records, addresses, zero, checksum
inline constexpr std::size_t kEndBytes = 40;          ///< tag, zero, records, addresses, blocks, checksum
inline constexpr std::size_t kHeaderFixedBytes = 24;  ///< warp size, SMs, width, height, allocations, zero
inline constexpr std::size_t kAllocationBytes = 24;   ///< kind, zero, name bytes, element bytes, start, bytes
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 28U;
inline constexpr std::size_t kRecordBytes = 8 + 4 + 4 + 2;  ///< mask, warp, bytes and store, SM

[[nodiscard]] constexpr std::size_t payload_bytes(std::size_t records, std::size_t addresses) {
  return records * kRecordBytes + addresses * 8;
}

/// XXH3-64 with the block's position as seed, so that moved and duplicated blocks are detected.
[[nodiscard]] inline std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

/// Little-endian numbers in a buffer, on any machine.
template <class T>
[[nodiscard]] T get(const char* at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  }
  return static_cast<T>(value);
}

template <class T>
void put(std::string& to, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to += static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
}

}  // namespace rayreplay::import
