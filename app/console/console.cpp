#include "app/console/console.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"

namespace rayreplay::console {

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    throw BrokenPipe();
  }
  if (error != 0) {
    throw Error(ErrorKind::Output, {"cannot write", "standard output", std::strerror(error), "", ""});
  }
}

void log(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, std::string(line) + "\n"));
}

}  // namespace rayreplay::console
