#include "capture/import/line_source.hpp"

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

std::string_view take_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    base = 16;
    word.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
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
