// One file of the store: a header of 64 bytes, and the result. Internal to this room.
//
//   0   8   "RRSTORE1"
//   8   16  kind, padded with zeros
//   24  16  key
//   40  8   length of the result, little-endian
//   48  16  XXH3-128 of the 48 bytes before and the result, canonical (big-endian)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rayreplay::experiment {

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kMaxKind = 16;
inline constexpr std::size_t kKeyDigits = 32;
using ResultHeader = std::array<char, kHeaderBytes>;

/// "stream-0123….rrs". Internal where kind or key are malformed.
[[nodiscard]] std::string result_name(std::string_view kind, std::string_view key);
/// Whether the name is that of a result or of one being written.
[[nodiscard]] bool is_result_name(std::string_view name);
[[nodiscard]] bool is_part_name(std::string_view name);

[[nodiscard]] ResultHeader make_header(std::string_view kind, std::string_view key, std::string_view bytes);
/// "" where the header fits a file of this size; else the reason.
[[nodiscard]] std::string header_fault(const ResultHeader& header, std::string_view kind, std::string_view key,
                                       std::uint64_t file_bytes);
[[nodiscard]] bool checksum_fits(const ResultHeader& header, std::string_view bytes);

}  // namespace rayreplay::experiment
