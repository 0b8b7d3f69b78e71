// Lines of a text, and the numbers in them. Internal to this folder.
//
// Contract: `next` returns a line without its line feed and a preceding carriage return. Lines have at most kMaxLine
// bytes. `terminated` is true if the line had a line feed. Errors: Input, with file and line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "capture/import/byte_source.hpp"

namespace rayreplay::import {

inline constexpr std::size_t kMaxLine = 1U << 16U;

class LineSource {
 public:
  explicit LineSource(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}

  /// False at the end. The text is valid until the next call.
  bool next(std::string_view& line);
  [[nodiscard]] bool terminated() const {
    return terminated_;
  }
  [[nodiscard]] std::uint64_t number() const {
    return number_;
  }
  [[nodiscard]] std::string where() const;  ///< "file:12"
  [[nodiscard]] const ByteSource& bytes() const {
    return *bytes_;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& found, const std::string& expected,
                         const std::string& fix = "") const;

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::size_t taken_ = 0;  ///< bytes of the latest line
  std::uint64_t number_ = 0;
  bool terminated_ = true;
};

/// The next word, separated by blanks and tabs; empty at the end. `line` becomes the rest.
[[nodiscard]] std::string_view take_word(std::string_view& line);

/// "123" or "0x7b"; nothing if it is neither or does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view word);

/// A word for a message: cut after 40 bytes, unprintable bytes as '?'.
[[nodiscard]] std::string quoted(std::string_view word);

}  // namespace rayreplay::import
