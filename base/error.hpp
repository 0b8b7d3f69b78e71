// rayreplay::Error: the one exception type that crosses a room's border.
//
// Contract: an error says what went wrong and, as far as they are known, where (file, dataset, row, option), what was
// found there, what was expected, and what the user can do about it. Libraries throw it; app/ prints it as one message
// and turns its kind into the exit code below (docs/exit-codes.md). Nothing is printed by the libraries themselves.
#pragma once

#include <stdexcept>
#include <string>

namespace rayreplay {

/// The value is the exit code of the command.
enum class ErrorKind : int {
  Usage = 2,     ///< unknown option, model, key or value
  Input = 3,     ///< a file is missing, damaged, of another version, or breaks its format
  Output = 4,    ///< an output exists already, cannot be created, or the disk is full
  Resource = 5,  ///< more memory or other resources needed than there are
  Missing = 6,   ///< the input is sound but lacks what this question needs (for example captured warps)
  Internal = 70  ///< a broken invariant: a fault of rayreplay
};

struct ErrorInfo {
  std::string what;      ///< one clause, no full stop: "the event's shader id is out of range"
  std::string where;     ///< "t.rrt:/launch/0/events/shader[17]"
  std::string found;     ///< "9"
  std::string expected;  ///< "less than 4, the number of shaders"
  std::string fix;       ///< "capture the trace again"
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, ErrorInfo info);

  [[nodiscard]] ErrorKind kind() const noexcept {
    return kind_;
  }
  [[nodiscard]] int exit_code() const noexcept {
    return static_cast<int>(kind_);
  }
  [[nodiscard]] const ErrorInfo& info() const noexcept {
    return info_;
  }

 private:
  ErrorKind kind_;
  ErrorInfo info_;
};

/// Throws an Error of kind Usage.
[[noreturn]] void usage(std::string what, std::string where, std::string found, std::string expected,
                        std::string fix = "");

/// "where: what (found …; expected …). Fix: …", leaving out what is empty.
[[nodiscard]] std::string format_error(const ErrorInfo& info);

}  // namespace rayreplay
