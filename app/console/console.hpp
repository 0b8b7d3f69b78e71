// The command's two streams: data on standard output, messages on standard error.
//
// Contract: `print` writes all bytes or throws: BrokenPipe if the reader has closed the pipe (`rayreplay list | head
// -1`), else Error of kind Output. `log` writes one line to standard error and never fails. Names, keys and paths come
// from untrusted files and applications, so messages are made safe here (base/text.hpp): `log` and `error_text` spell
// out control characters, line breaks included. `print` leaves data unchanged in a file or a pipe; on a terminal it
// spells out control characters except line ends.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::console {

/// The reader has closed standard output. Not worth a message.
class BrokenPipe : public std::runtime_error {
 public:
  BrokenPipe() : std::runtime_error("broken pipe") {}
};

void print(std::string_view text);
void log(std::string_view line);

/// One line of this program: "rayreplay: …", "rayreplay: note: …", "rayreplay: warning: …".
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  log("rayreplay: " + fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
void note(fmt::format_string<Values...> format, Values&&... values) {
  tell("note: {}", fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
void warn(fmt::format_string<Values...> format, Values&&... values) {
  tell("warning: {}", fmt::format(format, std::forward<Values>(values)...));
}

/// "where: what (found …)", as made by `format_error`, safe to print. Line breaks occur only in a place in a formula,
/// which ends with the text and a mark under the column, so no name can start a line of its own.
[[nodiscard]] std::string error_text(const ErrorInfo& info);
/// "rayreplay: error: …" as one message on standard error; never fails.
void log_error(const ErrorInfo& info);

}  // namespace rayreplay::console
