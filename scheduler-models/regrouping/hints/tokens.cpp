#include "scheduler-models/regrouping/hints/tokens.hpp"

#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "scheduler-models/regrouping/hints/expression.hpp"

namespace rayreplay::scheduler::formula {
namespace {

constexpr std::array<std::string_view, 8> kLongSigns = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
constexpr std::string_view kShortSigns = "+-*/%&|^!<>(),";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

class Tokenizer {
 public:
  Tokenizer(std::string_view text, const std::string& owner) : text_(text), owner_(owner) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) {
        ++at_;
      }
      tokens.push_back(next());
      if (tokens.back().kind == TokenKind::End) {
        return tokens;
      }
    }
  }

 private:
  Token take(TokenKind kind, std::size_t length, double number = 0) {
    const Token token{kind, text_.substr(at_, length), number, static_cast<std::uint32_t>(at_)};
    at_ += length;
    return token;
  }

  Token next() {
    if (at_ == text_.size()) {
      return take(TokenKind::End, 0);
    }
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      return number();
    }
    if (is_name_start(c)) {
      std::size_t end = at_;
      while (end < text_.size() && is_name_part(text_[end])) {
        ++end;
      }
      return take(TokenKind::Name, end - at_);
    }
    for (const std::string_view sign : kLongSigns) {
      if (text_.substr(at_).starts_with(sign)) {
        return take(TokenKind::Sign, 2);
      }
    }
    if (kShortSigns.find(c) != std::string_view::npos) {
      return take(TokenKind::Sign, 1);
    }
    const auto byte = static_cast<unsigned char>(c);
    fail("the formula holds an unknown character",
         byte > ' ' && byte < 0x7F ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02X}", byte),
         "numbers, fields, functions and operators",
         c == '='               ? "equality is written =="
         : c == '?' || c == ':' ? "a choice is written if(condition, then, otherwise)"
         : c == '~'             ? "write value ^ mask"
                                : "");
  }

  Token number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::from_chars_result read{};
    if (text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X")) {
      std::uint64_t whole_number = 0;
      read = std::from_chars(begin + 2, end, whole_number, 16);
      value = static_cast<double>(whole_number);
      if (read.ec == std::errc() && whole_number > std::uint64_t{1} << 53U) {
        read.ec = std::errc::result_out_of_range;
      }
    } else {
      read = std::from_chars(begin, end, value);
    }
    if (read.ec == std::errc::result_out_of_range) {
      fail("the number is too large or too small", std::string(begin, read.ptr),
           "at most 2^53 in hexadecimal, a double otherwise", "");
    }
    if (read.ec != std::errc() || (read.ptr != end && (is_name_part(*read.ptr) || *read.ptr == '.'))) {
      const char* stop = begin;
      while (stop != end && (is_name_part(*stop) || *stop == '.')) {
        ++stop;
      }
      fail("the number is malformed",
           fmt::format("'{}'", std::string_view(begin, static_cast<std::size_t>(stop - begin))),
           "a number such as 12, 0.5, 1e3 or 0x1F", "");
    }
    return take(TokenKind::Number, static_cast<std::size_t>(read.ptr - begin), value);
  }

  [[noreturn]] void fail(const std::string& what, const std::string& found, const std::string& expected,
                         const std::string& fix) const {
    throw Error(ErrorKind::Usage, {what, point_at(text_, at_, owner_), found, expected, fix});
  }

  std::string_view text_;
  const std::string& owner_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& owner) {
  return Tokenizer(text, owner).run();
}

}  // namespace rayreplay::scheduler::formula
