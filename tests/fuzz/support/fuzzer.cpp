#include "tests/fuzz/support/fuzzer.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace rayreplay::fuzz {
namespace {

constexpr std::uint64_t kOddNumbers[] = {
    0,          1,          2,          3,          7,         8,          9,          10,         15,
    16,         31,         32,         63,         64,        127,        128,        255,        256,
    4096,       65535,      65536,      1U << 20,   1U << 31,  0x7FFFFFFF, 0xFFFFFFFF, 1ULL << 32, 1ULL << 40,
    1ULL << 52, 1ULL << 53, 1ULL << 62, 1ULL << 63, ~0ULL - 1, ~0ULL};

constexpr const char* kOddNumberTexts[] = {"-1",
                                           "0",
                                           "1",
                                           "2",
                                           "0.5",
                                           "-0.0",
                                           "1e-300",
                                           "1e39",
                                           "1e308",
                                           "nan",
                                           "inf",
                                           "-inf",
                                           "65535",
                                           "65536",
                                           "2147483647",
                                           "2147483648",
                                           "4294967295",
                                           "4294967296",
                                           "9007199254740993",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "18446744073709551615",
                                           "18446744073709551616",
                                           "0x10",
                                           "000000000000000000001",
                                           ""};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

std::uint8_t Choices::byte() {
  if (bytes_.empty()) {
    return 0;
  }
  const auto value = static_cast<std::uint8_t>(bytes_.front());
  bytes_.remove_prefix(1);
  return value;
}

std::uint64_t Choices::below(std::uint64_t count) {
  std::uint64_t value = byte();
  for (std::uint64_t reach = 256; reach < count && reach != 0; reach <<= 8U) {
    value = value << 8U | byte();
  }
  return count == 0 ? 0 : value % count;
}

std::uint64_t Choices::number() {
  const std::uint8_t choice = byte();
  if (choice < 128) {
    return kOddNumbers[choice % std::size(kOddNumbers)];
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 1U + choice % 8U; ++i) {
    value = value << 8U | byte();
  }
  return value;
}

std::uint64_t odd_number(Random& random) {
  return random.one_in(3) ? random.bits() : kOddNumbers[random.below(std::size(kOddNumbers))];
}

void change_bytes(std::string& bytes, Random& random) {
  if (bytes.empty()) {
    bytes.assign(1 + random.below(8), static_cast<char>(random.bits()));
    return;
  }
  const std::size_t at = random.below(bytes.size());
  const std::size_t some = std::min<std::size_t>(bytes.size() - at, 1 + random.below(16));
  switch (random.below(6)) {
    case 0:
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random.below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.bits());
      break;
    case 2:
      if (random.one_in(4)) {
        bytes.resize(at);
      }
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, some));
      break;
    case 4:
      bytes.erase(at, some);
      break;
    default: {
      const std::uint64_t number = odd_number(random);
      for (std::size_t i = 0; i < std::min<std::size_t>(some, 8); ++i) {
        bytes[at + i] = static_cast<char>(number >> (8 * i));
      }
    }
  }
}

void change_text(std::string& text, Random& random, std::span<const char* const> words) {
  const std::size_t at = text.empty() ? 0 : random.below(text.size());
  const auto any_word = [&]() -> std::string {
    return words.empty() || random.one_in(3) ? kOddNumberTexts[random.below(std::size(kOddNumberTexts))]
                                             : words[random.below(words.size())];
  };
  switch (random.below(8)) {
    case 0:
    case 1: {  // a word or number
      const auto begin = static_cast<std::size_t>(
          std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word) - text.begin());
      const auto end = static_cast<std::size_t>(
          std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_word) - text.begin());
      text.replace(begin, end - begin, any_word());
      break;
    }
    case 2: {  // a number
      const std::size_t begin = std::min(text.find_first_of("0123456789", at), text.size());
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
      text.replace(begin, end - begin, kOddNumberTexts[random.below(std::size(kOddNumberTexts))]);
      break;
    }
    case 3:
      text.insert(at, any_word());
      break;
    case 4: {  // a line: doubled elsewhere, or removed
      const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      if (text.empty()) {
        break;
      }
      const std::string line = text.substr(begin, end - begin);
      if (random.one_in(2)) {
        text.erase(begin, end - begin);
      }
      const std::size_t to = text.empty() ? 0 : text.rfind('\n', random.below(text.size())) + 1;
      if (!random.one_in(3)) {
        text.insert(to, line);
      }
      break;
    }
    case 5: {  // depth and length
      constexpr std::string_view kPieces[] = {"[", "{", "(", "-", "!", "\"", "'", "a.", "]", "}", ")", " ", "\n", "0"};
      const std::string_view piece = kPieces[random.below(std::size(kPieces))];
      for (std::uint32_t n = 1 + random.below(random.one_in(8) ? 2000 : 4); n > 0; --n) {
        text.insert(at, piece);
      }
      break;
    }
    default:
      change_bytes(text, random);
  }
}

}  // namespace rayreplay::fuzz
