// The command's two streams: data on standard output, everything for people on standard error.
//
// Contract: `print` writes all bytes or throws: BrokenPipe when the reader has gone (`rayreplay list | head -1`), Error
// of kind Output otherwise. `log` writes one line to standard error and never fails.
// Names, keys and paths in a line come from files and applications, so all text for people is made safe here
// (base/text.hpp). `log` and `error_text` write out control characters, line breaks included. `print` leaves data as
// they are in a file or a pipe; on a terminal it writes out control characters, line ends excepted.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace rayreplay::console {

/// The reader of standard output has closed it. Not an error worth a message.
class BrokenPipe : public std::runtime_error {
 public:
  BrokenPipe() : std::runtime_error("broken pipe") {}
};

void print(std::string_view text);
void log(std::string_view line);

/// "where: what (found …)", as `format_error` puts it together, safe to print. The only line breaks are those of a
/// place in a formula, which ends with the text and a mark under the column: no name can begin a line of its own.
[[nodiscard]] std::string error_text(const ErrorInfo& info);
/// "rayreplay: error: …" as one message on standard error; never fails.
void log_error(const ErrorInfo& info);

}  // namespace rayreplay::console
