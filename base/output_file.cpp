#include "base/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
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
#include "base/working_folder.hpp"
#include "base/write_failure.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStreamBytes = std::size_t{1} << 16U;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  throw Error(ErrorKind::Output, {what, path.string(), std::strerror(error), "", fix_of_write_failure(error)});
}

void write_or_fail(int descriptor, std::string_view bytes, const fs::path& path) {
  if (const int error = write_all(descriptor, bytes); error != 0) {
    fail(path, "cannot write", error);
  }
}

/// Returns 0 or the errno. Without `overwrite`, a file that another process has made meanwhile is kept.
int move_into_place(const fs::path& from, const fs::path& to, bool overwrite) {
  if (overwrite) {
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno == EEXIST || (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)) {
    return errno;
  }
  // The file system has no RENAME_NOREPLACE. link() fails if the name is taken.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return 0;
  }
  return errno != EEXIST && ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
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

Temporary create_remembered_file(const fs::path& output) {
  const std::lock_guard lock(temporaries().mutex);
  Temporary result = create_temporary_file(output);
  if (result.error == 0) {
    temporaries().paths.insert(result.path);
  }
  return result;
}

Temporary create_remembered_folder(const fs::path& output) {
  const std::lock_guard lock(temporaries().mutex);
  Temporary result = create_temporary_folder(output);
  if (result.error == 0) {
    temporaries().paths.insert(result.path);
  }
  return result;
}

void forget_temporary(const fs::path& path) {
  const std::lock_guard lock(temporaries().mutex);
  temporaries().paths.erase(path);
}

void remove_unfinished_outputs() noexcept {
  // Never unlocked: a thread that begins or commits an output now waits until the process ends.
  temporaries().mutex.lock();
  for (const fs::path& path : temporaries().paths) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
}

void require_folder_of(const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (path.is_relative()) {
    require_working_folder(ErrorKind::Output);
  }
  if (!fs::is_directory(folder, error)) {
    const bool exists = fs::exists(folder, error);
    throw Error(
        ErrorKind::Output,
        {exists ? "the output's folder is a file" : "the output's folder does not exist", folder.string(), "",
         "a folder", exists ? std::string("choose another folder") : fmt::format("mkdir -p '{}'", folder.string())});
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    fail(folder, "cannot write into this folder", errno);
  }
}

void require_writable(const fs::path& path, bool overwrite) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!overwrite && !fs::is_directory(status) && fs::exists(fs::symlink_status(path, error))) {
    throw Error(ErrorKind::Output, {"the output exists already", path.string(), "", "",
                                    "choose another name, or add --force to replace it"});
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Renaming over a device or a pipe would replace it.
    const bool is_folder = fs::is_directory(status);
    throw Error(ErrorKind::Output,
                {is_folder ? "the output is a folder" : "the output is a device or pipe", path.string(), "",
                 "the name of a file", is_folder ? "name a file in it" : "choose the name of a file"});
  }
  require_folder_of(path);
}

OutputFile::OutputFile(fs::path path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  require_writable(path_, overwrite_);
  remove_leftovers(path_);
  temporary_ = create_remembered_file(path_);
  if (temporary_.error != 0) {
    fail(path_, "cannot create the output", temporary_.error);
  }
}

OutputFile::~OutputFile() {
  if (!committed_) {
    ::unlink(temporary_.path.c_str());
    forget_temporary(temporary_.path);
  }
}

void OutputFile::write(std::string_view bytes) {
  write_or_fail(temporary_.file.get(), bytes, path_);
}

void OutputFile::commit() {
  if (::fsync(temporary_.file.get()) != 0) {
    fail(path_, "cannot finish writing", errno);
  }
  forget_temporary(temporary_.path);
  if (const int error = move_into_place(temporary_.path, path_, overwrite_); error != 0) {
    fail(path_, "cannot move the finished file into place", error);
  }
  committed_ = true;
  temporary_.file.close();
}

OutputStream::OutputStream(OutputFile& file) : std::ostream(nullptr), buffer_(file) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);  // otherwise the stream would lose the reason
}

void OutputStream::finish() {
  flush();
}

OutputStream::Buffer::Buffer(OutputFile& file) : file_(&file), waiting_(kStreamBytes) {
  setp(waiting_.data(), waiting_.data() + waiting_.size());
}

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type character) {
  sync();
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    sputc(traits_type::to_char_type(character));
  }
  return traits_type::not_eof(character);
}

std::streamsize OutputStream::Buffer::xsputn(const char* bytes, std::streamsize count) {
  if (count > epptr() - pptr()) {
    sync();
  }
  if (count > epptr() - pptr()) {
    file_->write({bytes, static_cast<std::size_t>(count)});
  } else {
    std::copy_n(bytes, count, pptr());
    pbump(static_cast<int>(count));
  }
  return count;
}

int OutputStream::Buffer::sync() {
  const std::string_view text(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(waiting_.data(), waiting_.data() + waiting_.size());
  file_->write(text);
  return 0;
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
  output.write(bytes);
  output.commit();
}

}  // namespace rayreplay
