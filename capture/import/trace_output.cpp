#include "capture/import/trace_output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/write_failure.hpp"

namespace rayreplay::import {
namespace {

constexpr std::size_t kBuffer = 1U << 20U;

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
  } else if (is_straight(path)) {
    straight_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    descriptor_ = straight_.get();
    if (descriptor_ < 0) {
      fail("cannot open the output", errno);
    }
  } else {
    file_ = std::make_unique<OutputFile>(path, overwrite);
    descriptor_ = file_->descriptor();
  }
}

void TraceOutput::fail(const std::string& what, int error) const {
  throw Error(ErrorKind::Output, {what, name_, std::strerror(error), "", fix_of_write_failure(error)});
}

void TraceOutput::flush() {
  if (const int error = write_all(descriptor_, buffer_); error != 0) {
    fail("cannot write", error);
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
    file_->commit();
  } else if (const int error = straight_.close(); error != 0) {
    fail("cannot finish writing", error);
  }
}

}  // namespace rayreplay::import
