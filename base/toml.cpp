#include "base/toml.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace rayreplay {
namespace {

constexpr std::size_t kShownBytes = 60;

/// Checks the nesting depth of a document, following TOML 1.0. Syntax errors are left to the library, which stops at
/// the first one and builds nothing after it.
class Measure {
 public:
  Measure(std::string_view text, const std::string& source, std::string_view what, ErrorKind kind)
      : text_(text), source_(source), what_(what), kind_(kind) {}

  void run() {
    while (skip_space_and_comments(), at_ < text_.size()) {
      if (text_[at_] == '[') {
        header();
      } else {
        statement();
      }
    }
  }

 private:
  /// An array or inline table whose end is not reached yet. `outside`: the depth around it.
  struct Open {
    bool is_table;
    std::size_t outside;
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance() {
    line_ += text_[at_] == '\n' ? 1U : 0U;
    ++at_;
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      ++at_;
    }
  }

  /// Skips the rest of a line, which may hold only a comment. The library may parse other text there as keys: its depth
  /// is at most the number of dots and opening brackets.
  void skip_rest() {
    skip_blanks();
    const std::size_t start = at_;
    if (peek() != '#') {
      std::size_t depth = 0;
      for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
        const char c = text_[at_];
        if (c == '.' || c == '[' || c == '{') {
          require(++depth, start);
        }
      }
    }
    skip_line();
  }

  void skip_space_and_comments() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_line();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        advance();
      } else {
        return;
      }
    }
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') {
      ++at_;
    }
  }

  /// Moves behind the closing quote, or to the end of the line if a one-line text is not closed.
  void skip_string() {
    const char quote = text_[at_];
    const bool several_lines = peek(1) == quote && peek(2) == quote;
    at_ += several_lines ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size()) {
        ++at_;
        advance();
      } else if (!several_lines && c == '\n') {
        return;
      } else if (several_lines && c == quote && peek(1) == quote && peek(2) == quote) {
        at_ += 3;
        // Up to two quotes may precede the closing three.
        for (int i = 0; i < 2 && peek() == quote; ++i) {
          ++at_;
        }
        return;
      } else if (!several_lines && c == quote) {
        ++at_;
        return;
      } else {
        advance();
      }
    }
  }

  static bool is_bare(char c) {
    return c != '\0' && std::string_view(" \t\r\n.=[]{},#\"'").find(c) == std::string_view::npos;
  }

  /// Moves behind the key at this position and returns its number of dotted parts.
  std::size_t key(std::size_t around) {
    std::size_t parts = 0;
    const std::size_t begin = at_;
    for (;;) {
      skip_blanks();
      const std::size_t part = at_;
      if (peek() == '"' || peek() == '\'') {
        skip_string();
      } else {
        while (is_bare(peek())) {
          ++at_;
        }
      }
      if (at_ - part > kMaxTomlKeyBytes) {
        fail("a key is too long", fmt::format("{} bytes", at_ - part), fmt::format("at most {}", kMaxTomlKeyBytes),
             part);
      }
      ++parts;
      skip_blanks();
      if (peek() != '.') {
        break;
      }
      ++at_;
    }
    require(around + parts, begin);
    return parts;
  }

  void header() {
    ++at_;
    if (peek() == '[') {
      ++at_;
    }
    header_depth_ = 0;
    header_depth_ = key(0);
    while (peek() == ']') {
      ++at_;
    }
    skip_rest();
  }

  void statement() {
    const std::size_t parts = key(header_depth_);
    if (peek() != '=') {
      skip_rest();  // a syntax error
      return;
    }
    ++at_;
    value(header_depth_ + parts);
  }

  /// Goes to the end of a value of any kind.
  void value(std::size_t depth) {
    std::vector<Open> open;
    bool key_is_next = false;
    for (;;) {
      if (open.empty()) {
        skip_blanks();
      } else {
        skip_space_and_comments();
      }
      if (at_ >= text_.size()) {
        return;
      }
      const char c = text_[at_];
      if (open.empty() && (c == '\n' || c == '#' || c == '\r')) {
        skip_rest();
        return;
      }
      if (c == '[' || c == '{') {
        open.push_back({c == '{', depth});
        require(++depth, at_);
        key_is_next = c == '{';
        ++at_;
      } else if ((c == ']' || c == '}') && !open.empty()) {
        depth = open.back().outside;
        open.pop_back();
        key_is_next = false;
        ++at_;
      } else if (c == ',' && !open.empty()) {
        // Within a table the depth goes back to the table's own.
        depth = open.back().outside + 1;
        key_is_next = open.back().is_table;
        ++at_;
      } else if (key_is_next) {
        depth += key(depth);
        key_is_next = false;
        if (peek() == '=') {
          ++at_;
        }
      } else if (c == '"' || c == '\'') {
        skip_string();
      } else {
        advance();
      }
    }
  }

  void require(std::size_t depth, std::size_t where) const {
    if (depth > kMaxTomlDepth) {
      fail("tables and lists are nested too deeply", fmt::format("{} levels", depth),
           fmt::format("at most {} dotted parts, lists and tables inside one another", kMaxTomlDepth), where);
    }
  }

  [[noreturn]] void fail(const char* what, const std::string& found, const std::string& expected,
                         std::size_t where) const {
    const std::string_view all = text_.substr(where);
    const std::string_view shown = all.substr(0, std::min({kShownBytes, all.find('\n'), all.size()}));
    throw Error(kind_, {fmt::format("the {} file is refused: {}", what_, what), fmt::format("{}:{}", source_, line_),
                        fmt::format("{} at '{}…'", found, text::printable(shown)), expected,
                        "write the key with fewer parts, in quotes if its name has dots"});
  }

  std::string_view text_;
  const std::string& source_;
  std::string_view what_;
  ErrorKind kind_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t header_depth_ = 0;
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& source, std::string_view what, ErrorKind kind) {
  if (text.size() > kMaxTomlBytes) {
    throw Error(kind, {fmt::format("the {} file is too large", what), source, fmt::format("{} bytes", text.size()),
                       fmt::format("at most {}", kMaxTomlBytes), "split the file, or leave out what is not needed"});
  }
  // The library skips a byte order mark.
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) {
    text.remove_prefix(kMark.size());
  }
  Measure(text, source, what, kind).run();
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw Error(kind, {fmt::format("the {} file is not TOML: {}", what, error.description()),
                       fmt::format("{}:{}", source, error.source().begin.line), "", "", ""});
  }
}

}  // namespace rayreplay
