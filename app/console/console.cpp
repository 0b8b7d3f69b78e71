#include "app/console/console.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

#include "base/file_descriptor.hpp"
#include "base/text.hpp"
#include "base/write_failure.hpp"

namespace rayreplay::console {
namespace {

/// The place of an error, without line breaks. Only places in formulas keep two line breaks, because they end with
/// "…, column N:", a line with the text, and a line with a mark.
std::string safe_place(std::string_view where) {
  constexpr std::string_view kLine = "\n  ";
  const auto mark = where.rfind(kLine);
  const auto shown = mark == std::string_view::npos || mark == 0 ? mark : where.rfind(kLine, mark - 1);
  if (shown == std::string_view::npos || mark == 0 || shown == 0 || where[shown - 1] != ':' ||
      where.find_first_not_of(' ', mark + kLine.size()) != where.size() - 1 || where.back() != '^') {
    return text::printable(where);
  }
  return text::printable(where.substr(0, shown)) + std::string(kLine) +
         text::printable(where.substr(shown + kLine.size(), mark - shown - kLine.size())) +
         std::string(where.substr(mark));
}

}  // namespace

void print(std::string_view text) {
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  const int error =
      on_terminal ? write_all(STDOUT_FILENO, text::printable_lines(text)) : write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    throw BrokenPipe();
  }
  if (error != 0) {
    throw Error(ErrorKind::Output,
                {"cannot write", "standard output", std::strerror(error), "", fix_of_write_failure(error)});
  }
}

void log(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, text::printable(line) + "\n"));
}

void log_error(const ErrorInfo& info) {
  static_cast<void>(write_all(STDERR_FILENO, "rayreplay: error: " + error_text(info) + "\n"));
}

std::string error_text(const ErrorInfo& info) {
  return format_error({text::printable(info.what), safe_place(info.where), text::printable(info.found),
                       text::printable(info.expected), text::printable(info.fix)});
}

}  // namespace rayreplay::console
