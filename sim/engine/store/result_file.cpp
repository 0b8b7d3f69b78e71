#include "sim/engine/store/result_file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kMagic = "RRSTORE1";
constexpr std::string_view kEnding = ".rrs";
constexpr std::size_t kKindAt = 8, kKeyAt = 24, kLengthAt = 40, kSumAt = 48, kSumBytes = 16;

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_kind(std::string_view kind) {
  return !kind.empty() && kind.size() <= kMaxKind &&
         std::ranges::all_of(kind, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_key(std::string_view key) {
  return key.size() == kKeyDigits && std::ranges::all_of(key, is_digit);
}

/// Two hexadecimal digits per byte.
void put_key(std::string_view key, char* into) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < key.size() / 2; ++i) {
    into[i] = static_cast<char>(static_cast<unsigned char>(value(key[2 * i]) * 16 + value(key[2 * i + 1])));
  }
}

std::array<char, kSumBytes> checksum(const ResultHeader& header, std::string_view bytes) {
  XXH3_state_t* state = XXH3_createState();
  if (state == nullptr) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state);
  XXH3_128bits_update(state, header.data(), kSumAt);
  XXH3_128bits_update(state, bytes.data(), bytes.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  std::array<char, kSumBytes> result{};
  static_assert(sizeof(canonical.digest) == kSumBytes);
  std::memcpy(result.data(), canonical.digest, kSumBytes);
  return result;
}

/// The header without its checksum.
ResultHeader start_header(std::string_view kind, std::string_view key, std::uint64_t length) {
  ResultHeader header{};
  std::ranges::copy(kMagic, header.begin());
  std::ranges::copy(kind, header.begin() + kKindAt);
  put_key(key, header.data() + kKeyAt);
  for (std::size_t i = 0; i < sizeof(length); ++i) {
    header[kLengthAt + i] = static_cast<char>(static_cast<unsigned char>(length >> (8 * i)));
  }
  return header;
}

}  // namespace

std::string result_name(std::string_view kind, std::string_view key) {
  if (!is_kind(kind) || !is_key(key)) {
    throw Error(ErrorKind::Internal, {"a result's kind or key has a form that the store does not know", "",
                                      fmt::format("'{}', '{}'", kind, key), "", ""});
  }
  return fmt::format("{}-{}{}", kind, key, kEnding);
}

bool is_result_name(std::string_view name) {
  if (!name.ends_with(kEnding) || name.size() < kEnding.size() + kKeyDigits + 2) {
    return false;
  }
  name.remove_suffix(kEnding.size());
  const std::string_view key = name.substr(name.size() - kKeyDigits);
  name.remove_suffix(kKeyDigits);
  return is_key(key) && name.ends_with('-') && is_kind(name.substr(0, name.size() - 1));
}

bool is_part_name(std::string_view name) {
  // Older versions wrote ".part-HOST-PROCESS-NUMBER".
  const auto part = name.find(".part-");
  return part != std::string_view::npos && is_result_name(name.substr(0, part));
}

ResultHeader make_header(std::string_view kind, std::string_view key, std::string_view bytes) {
  ResultHeader header = start_header(kind, key, bytes.size());
  std::ranges::copy(checksum(header, bytes), header.begin() + kSumAt);
  return header;
}

std::string header_fault(const ResultHeader& header, std::string_view kind, std::string_view key,
                         std::uint64_t file_bytes) {
  const std::string_view bytes(header.data(), header.size());
  if (!bytes.starts_with(kMagic)) {
    return "it is no result";
  }
  const ResultHeader expected = start_header(kind, key, file_bytes - kHeaderBytes);
  const std::string_view wanted(expected.data(), expected.size());
  if (bytes.substr(0, kLengthAt) != wanted.substr(0, kLengthAt)) {
    return "it is another result";
  }
  return bytes.substr(kLengthAt, kSumAt - kLengthAt) == wanted.substr(kLengthAt, kSumAt - kLengthAt)
             ? std::string()
             : "its length differs";
}

bool checksum_fits(const ResultHeader& header, std::string_view bytes) {
  const auto sum = checksum(header, bytes);
  return std::equal(sum.begin(), sum.end(), header.begin() + kSumAt);
}

}  // namespace rayreplay::experiment
