#include "base/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/working_folder.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStepBytes = std::size_t{1} << 16U;

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) {
    return "a folder";
  }
  if (S_ISFIFO(mode)) {
    return "a pipe";
  }
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

[[noreturn]] void refuse_kind(const fs::path& path, std::string_view noun, mode_t mode) {
  throw Error(ErrorKind::Input, {"this is not a regular file", path.string(), kind_of(mode),
                                 noun == "file" ? std::string("a file") : fmt::format("a file with the {}", noun),
                                 S_ISDIR(mode) ? "name the file" : "write it to a file first, and name that"});
}

[[noreturn]] void refuse(const fs::path& path, std::string_view noun, int error) {
  if (error == ENOENT && path.is_relative()) {
    require_working_folder(ErrorKind::Input);
  }
  std::string fix;
  if (error == ENOENT) {
    fix = "check the name";
  } else if (error == EACCES || error == EPERM) {
    fix = "check the file's permissions";
  }
  throw Error(ErrorKind::Input,
              {fmt::format("cannot read the {}", noun), path.string(), std::strerror(error), "", fix});
}

/// Appends until the text has `most` bytes or the file ends. Returns 0 or the errno.
int read_more(int file, std::string& text, std::uint64_t most) {
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min<std::uint64_t>(kStepBytes, most - before));
    const ssize_t got = ::read(file, text.data() + before, text.size() - before);
    const int error = errno;
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) {
      return 0;
    }
    if (got < 0 && error != EINTR) {
      return error;
    }
  }
  return 0;
}

}  // namespace

OpenInput open_input(const fs::path& path, std::string_view noun) {
  // Checked before opening, because opening some devices has effects.
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse_kind(path, noun, status.st_mode);
  }
  OpenInput result;
  // Non-blocking: if a FIFO has replaced the file since, it is refused below instead of waited for.
  do {
    result.file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  } while (!result.file.valid() && errno == EINTR);
  if (!result.file.valid() || ::fstat(result.file.get(), &status) != 0) {
    refuse(path, noun, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_kind(path, noun, status.st_mode);
  }
  result.bytes = static_cast<std::uint64_t>(status.st_size);
  return result;
}

std::string read_text_file(const fs::path& path, std::uint64_t most_bytes, std::string_view noun) {
  const OpenInput input = open_input(path, noun);
  std::string text;
  int error = 0;
  if (input.bytes <= most_bytes) {
    // One byte more than the limit, to detect a file that has grown beyond it.
    error = read_more(input.file.get(), text, most_bytes + 1);
  }
  if (error != 0) {
    refuse(path, noun, error);
  }
  if (input.bytes > most_bytes || text.size() > most_bytes) {
    throw Error(ErrorKind::Input, {fmt::format("the {} is too large", noun), path.string(),
                                   fmt::format("{} bytes", std::max<std::uint64_t>(input.bytes, text.size())),
                                   fmt::format("at most {} bytes", most_bytes), "check the file name"});
  }
  return text;
}

std::string read_start(const fs::path& path, std::size_t count, std::string_view noun) {
  const OpenInput input = open_input(path, noun);
  std::string bytes;
  if (const int error = read_more(input.file.get(), bytes, count); error != 0) {
    refuse(path, noun, error);
  }
  return bytes;
}

void require_regular_or_absent(const fs::path& path, std::string_view noun) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse_kind(path, noun, status.st_mode);
  }
}

}  // namespace rayreplay
