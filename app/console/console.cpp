#include "app/console/console.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

#include "base/error.hpp"

namespace rayreplay::console {
namespace {

/// 0, or the errno of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), text.size());
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

}  // namespace

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
  write_all(STDERR_FILENO, std::string(line) + "\n");
}

}  // namespace rayreplay::console
