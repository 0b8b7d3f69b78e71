#include "capture/import/line_source.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::import {

bool LineSource::next(std::string_view& line) {
  bytes_->consume(taken_);
  taken_ = 0;
  std::string_view ahead = bytes_->peek(1);
  if (ahead.empty()) {
    return false;
  }
  ++number_;
  std::size_t end = ahead.substr(0, kMaxLine + 1).find('\n');
  if (end == std::string_view::npos) {
    ahead = bytes_->peek(kMaxLine + 1).substr(0, kMaxLine + 1);
    end = ahead.find('\n');
  }
  terminated_ = end != std::string_view::npos;
  if (!terminated_ && ahead.size() > kMaxLine) {
    fail("a line is too long", fmt::format("more than {} bytes", kMaxLine),
         fmt::format("at most {} bytes and a line feed", kMaxLine), "write each record on a line of its own");
  }
  line = ahead.substr(0, end);
  taken_ = line.size() + (terminated_ ? 1 : 0);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return true;
}

std::string LineSource::where() const {
  return fmt::format("{}:{}", bytes_->name(), number_);
}

void LineSource::fail(const std::string& what, const std::string& found, const std::string& expected,
                      const std::string& fix) const {
  throw Error(ErrorKind::Input, {what, where(), found, expected, fix});
}

namespace {

constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::uint8_t i = 0; i < 10; ++i) {
    digits[static_cast<std::size_t>('0' + i)] = i;
  }
  for (std::uint8_t i = 0; i < 6; ++i) {
    digits[static_cast<std::size_t>('a' + i)] = digits[static_cast<std::size_t>('A' + i)] =
        static_cast<std::uint8_t>(10 + i);
  }
  return digits;
}();

// Hand-written, because a text trace is mostly addresses, and std::from_chars and find_first_of took most of the time.
std::optional<std::uint64_t> parse_hexadecimal(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const std::uint8_t digit = kHexDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit || value >> 60U != 0) {
      return {};
    }
    value = value << 4U | digit;
  }
  return digits.empty() ? std::nullopt : std::optional(value);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

std::string_view take_word(std::string_view& line) {
  const char* const end = line.data() + line.size();
  const char* first = line.data();
  while (first != end && is_blank(*first)) {
    ++first;
  }
  const char* last = first;
  while (last != end && !is_blank(*last)) {
    ++last;
  }
  line = {last, static_cast<std::size_t>(end - last)};
  return {first, static_cast<std::size_t>(last - first)};
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  if (word.size() > 1 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
    return parse_hexadecimal(word.substr(2));
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) {
    return {};
  }
  return value;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kShown = 40;
  std::string text = "'";
  for (const char c : word.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte >= 0x7F ? '?' : c;
  }
  return text + (word.size() > kShown ? "…'" : "'");
}

}  // namespace rayreplay::import
