#include "capture/import/trace_output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"

namespace rayreplay::import {
namespace {

constexpr std::size_t kBuffer = 1U << 20U;
constexpr int kMode = 0666;  // what the user's umask leaves of it

bool is_straight(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return !error && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

}  // namespace

TraceOutput::TraceOutput(const std::string& path, bool overwrite) : name_(path == "-" ? "standard output" : path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  std::string target = path;
  int flags = O_WRONLY | O_CLOEXEC;
  if (!is_straight(path)) {
    file_ = std::make_unique<OutputFile>(path, overwrite);
    target = file_->temporary_path().string();
    flags |= O_CREAT | O_TRUNC;
  }
  descriptor_ = ::open(target.c_str(), flags, kMode);
  if (descriptor_ < 0) {
    fail("cannot create");
  }
}

TraceOutput::~TraceOutput() {
  if (descriptor_ > STDERR_FILENO) {
    ::close(descriptor_);
  }
}

void TraceOutput::fail(const std::string& what) const {
  const int error = errno;
  throw Error(ErrorKind::Output, {what, name_, std::strerror(error), "",
                                  error == ENOSPC ? "free space on that disk, or write to another one" : ""});
}

void TraceOutput::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t done = ::write(descriptor_, left.data(), left.size());
    if (done < 0 && errno != EINTR) {
      fail("cannot write");
    }
    left.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
  }
  buffer_.clear();
}

void TraceOutput::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffer) {
    flush();
  }
}

void TraceOutput::commit() {
  flush();
  if (file_ != nullptr) {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) {
      fail("cannot finish writing");
    }
    file_->commit();
  }
}

}  // namespace rayreplay::import
