#include "base/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  std::string fix;
  if (error == ENOSPC || error == EDQUOT) {
    fix = "free space on that disk, or write to another one";
  } else if (error == EACCES || error == EROFS || error == EPERM) {
    fix = "choose a folder that you may write to";
  }
  throw Error(ErrorKind::Output, {what, path.string(), std::strerror(error), "", fix});
}

void write_or_fail(int descriptor, std::string_view bytes, const fs::path& path) {
  if (const int error = write_all(descriptor, bytes); error != 0) {
    fail(path, "cannot write", error);
  }
}

struct Temporaries {
  std::mutex mutex;
  std::set<fs::path> paths;
};

Temporaries& temporaries() {
  static Temporaries all;
  return all;
}

}  // namespace

void remember_temporary(const fs::path& path) {
  const std::lock_guard lock(temporaries().mutex);
  temporaries().paths.insert(path);
}

void forget_temporary(const fs::path& path) {
  const std::lock_guard lock(temporaries().mutex);
  temporaries().paths.erase(path);
}

void remove_unfinished_outputs() noexcept {
  // Never unlocked: whoever would commit or begin an output waits here until the process is gone.
  temporaries().mutex.lock();
  for (const fs::path& path : temporaries().paths) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
}

void require_writable(const fs::path& path, bool overwrite) {
  std::error_code error;
  if (!overwrite && fs::exists(fs::symlink_status(path, error))) {
    throw Error(ErrorKind::Output, {"the output exists already", path.string(), "", "",
                                    "choose another name, or add --force to replace it"});
  }
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Renaming over a device or a pipe would replace it.
    throw Error(ErrorKind::Output,
                {fs::is_directory(status) ? "the output is a folder" : "the output is a device or pipe", path.string(),
                 "", "the name of a file", ""});
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw Error(ErrorKind::Output, {"the output's folder does not exist", folder.string(), "", "",
                                    fmt::format("mkdir -p '{}'", folder.string())});
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    fail(folder, "cannot write into this folder", errno);
  }
}

OutputFile::OutputFile(fs::path path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  require_writable(path_, overwrite_);
  temporary_ = path_;
  temporary_ += fmt::format(".part-{}", ::getpid());
  remember_temporary(temporary_);
}

OutputFile::~OutputFile() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
    forget_temporary(temporary_);
  }
}

void OutputFile::commit() {
  {
    const FileDescriptor file(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid() || ::fsync(file.get()) != 0) {
      fail(path_, "cannot finish writing", errno);
    }
  }
  forget_temporary(temporary_);
  // Without --force another process may have made the file meanwhile: link() fails then, rename() would replace it.
  if (overwrite_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      fail(path_, "cannot move the finished file into place", errno);
    }
  } else if (::link(temporary_.c_str(), path_.c_str()) == 0) {
    ::unlink(temporary_.c_str());
  } else if (errno == EEXIST || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail(path_, "cannot move the finished file into place", errno);
  }
  committed_ = true;
}

void write_file(const fs::path& path, std::string_view bytes, bool overwrite) {
  if (path == "-") {
    write_or_fail(STDOUT_FILENO, bytes, "standard output");
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    const FileDescriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!device.valid()) {
      fail(path, "cannot open the output", errno);
    }
    write_or_fail(device.get(), bytes, path);
    return;
  }
  OutputFile output(path, overwrite);
  {
    const FileDescriptor file(::open(output.temporary_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.valid()) {
      fail(path, "cannot create the output", errno);
    }
    write_or_fail(file.get(), bytes, path);
  }
  output.commit();
}

}  // namespace rayreplay
