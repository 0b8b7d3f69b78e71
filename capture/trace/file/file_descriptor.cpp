#include "capture/trace/file/file_descriptor.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/working_folder.hpp"
#include "base/write_failure.hpp"

namespace rayreplay::trace {

FileDescriptor::FileDescriptor(const std::filesystem::path& path, Mode mode, std::string noun)
    : path_(path), noun_(std::move(noun)) {
  // Non-blocking, so that a pipe given by mistake is refused below instead of waited for.
  value_ = ::open(path.c_str(), (mode == Mode::Read ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
  if (value_ < 0) {
    const int error = errno;
    if (error == ENOENT && path.is_relative()) {
      require_working_folder(mode == Mode::Read ? ErrorKind::Input : ErrorKind::Output);
    }
    errno = error;
    throw Error(ErrorKind::Input, {"cannot open the " + noun_, path.string(), std::strerror(errno), "",
                                   errno == ENOENT ? "check the name" : "check the file's permissions"});
  }
  struct stat status {};
  if (::fstat(value_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(value_);
    throw Error(ErrorKind::Input,
                {"this is not a regular file", path.string(),
                 S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe", "a " + noun_ + " file", ""});
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

FileDescriptor::FileDescriptor(int descriptor, const std::filesystem::path& path)
    : path_(path), noun_("trace"), value_(descriptor), is_ours_(false) {
  struct stat status {};
  if (::fstat(value_, &status) != 0) {
    const int error = errno;
    throw Error(ErrorKind::Output,
                {"cannot write", path.string(), std::strerror(error), "", fix_of_write_failure(error)});
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

FileDescriptor::~FileDescriptor() {
  if (is_ours_) {
    ::close(value_);
  }
}

void FileDescriptor::read(std::span<std::byte> bytes, std::uint64_t position) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(value_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      throw Error(ErrorKind::Input,
                  {done < 0 ? "cannot read the " + noun_ : "the file became shorter while it was read", path_.string(),
                   done < 0 ? std::strerror(errno) : fmt::format("its end at byte {}", position), "", ""});
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    position += static_cast<std::uint64_t>(done);
  }
}

void FileDescriptor::write(std::span<const std::byte> bytes, std::uint64_t position) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(value_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      const int error = done < 0 ? errno : ENOSPC;
      throw Error(ErrorKind::Output,
                  {"cannot write", path_.string(), std::strerror(error), "", fix_of_write_failure(error)});
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    position += static_cast<std::uint64_t>(done);
  }
}

}  // namespace rayreplay::trace
