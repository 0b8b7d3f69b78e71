#include "app/report/export/output_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "base/write_failure.hpp"

namespace rayreplay::output {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMarkBytes = 4096;

/// "out/" and "out" are the same folder; the temporary is beside it, not in it. A link is followed: its target is
/// replaced, not the link.
fs::path resolve(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (!error) {
    return real;
  }
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::error_code& error) {
  throw Error(ErrorKind::Output, {what, path.string(), error.message(), "", fix_of_write_failure(error.value())});
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    fail("cannot move the finished folder into place", to, error);
  }
}

bool has_mark(const fs::path& file, const std::string& mark) {
  try {
    return read_start(file, kMarkBytes).find(mark) != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

/// Sorted names of the folder's entries, so that the same folder gives the same message.
std::vector<fs::directory_entry> entries_of(const fs::path& path) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  if (error) {
    fail("cannot look into the output folder", path, error);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_own(const fs::directory_entry& entry, const FolderKind& kind) {
  std::error_code error;
  return fs::is_regular_file(entry.symlink_status(error)) && kind.is_own(entry.path().filename().string());
}

/// True if the entry is a temporary of a file in the folder, left by a killed writer.
bool is_temporary(const fs::directory_entry& entry) {
  std::error_code error;
  return fs::is_regular_file(entry.symlink_status(error)) && is_temporary_name(entry.path().filename().string());
}

void require_replaceable(const fs::path& path, bool overwrite, const FolderKind& kind) {
  const std::vector<fs::directory_entry> entries = entries_of(path);
  if (entries.empty()) {
    return;
  }
  if (!overwrite) {
    throw Error(ErrorKind::Output, {"the output folder exists already and is not empty", path.string(), "", "",
                                    "choose another name, or add --force to replace it"});
  }
  const auto foreign =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return !is_own(entry, kind); });
  std::error_code ignored;
  const bool marked = fs::is_regular_file(fs::symlink_status(path / kind.marked_file, ignored)) &&
                      has_mark(path / kind.marked_file, kind.mark);
  if (foreign != entries.end() && marked) {
    throw Error(ErrorKind::Output, {"the output folder holds a file that is not part of this report", path.string(),
                                    fmt::format("'{}'", foreign->path().filename().string()),
                                    "a folder with only the files of an earlier report of the same kind",
                                    "choose another folder, or remove this one"});
  }
  if (foreign != entries.end()) {
    throw Error(ErrorKind::Output, {"the output folder holds something that rayreplay did not write there",
                                    path.string(), fmt::format("'{}'", foreign->path().filename().string()),
                                    "a folder with only the files of an earlier run", "choose another folder"});
  }
  if (!marked) {
    throw Error(ErrorKind::Output, {"the output folder was not written by rayreplay", path.string(),
                                    fmt::format("no '{}' of rayreplay's", kind.marked_file),
                                    "a folder with only the files of an earlier run", "choose another folder"});
  }
}

/// Atomic: a folder exists at `path` at all times. False if the file system cannot do it.
bool exchange(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  const int reason = errno;
  if (reason == EINVAL || reason == ENOSYS || reason == ENOTSUP) {
    return false;
  }
  fail("cannot move the finished folder into place", other, std::error_code(reason, std::generic_category()));
}

/// A new file in the folder prevents the removal.
void remove_own(const fs::path& folder, const FolderKind& kind) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    if (is_own(entry, kind) || is_temporary(entry)) {
      fs::remove(entry.path(), ignored);
    }
  }
  fs::remove(folder, ignored);
}

}  // namespace

void require_folder_writable(const fs::path& given, bool overwrite, const FolderKind& kind) {
  const fs::path path = resolve(given);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    // The same rules as for a new file: its parent exists and is writable.
    require_writable(path, false);
    return;
  }
  if (!fs::is_directory(status)) {
    throw Error(ErrorKind::Output,
                {"the output is a file", path.string(), "", "the name of a folder", "choose another name"});
  }
  require_replaceable(path, overwrite, kind);
}

OutputFolder::OutputFolder(const fs::path& path, bool overwrite, FolderKind kind)
    : path_(resolve(path)), kind_(std::move(kind)), overwrite_(overwrite) {
  require_folder_writable(path_, overwrite_, kind_);
  visit_abandoned_folders(path_, [this](const fs::path& folder) { remove_own(folder, kind_); });
  temporary_ = create_remembered_folder(path_);
  if (temporary_.error != 0) {
    fail("cannot create the output folder", path_, std::error_code(temporary_.error, std::generic_category()));
  }
}

OutputFolder::~OutputFolder() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove_all(temporary_.path, ignored);
    forget_temporary(temporary_.path);
  }
}

void OutputFolder::commit() {
  require_folder_writable(path_, overwrite_, kind_);
  forget_temporary(temporary_.path);
  std::error_code error;
  if (!fs::exists(path_, error)) {
    rename_or_fail(temporary_.path, path_);
    committed_ = true;
    return;
  }
  fs::path old = temporary_.path;
  if (!exchange(temporary_.path, path_)) {
    old = path_;
    old += ".old-" + random_digits();
    rename_or_fail(path_, old);
    fs::rename(temporary_.path, path_, error);
    if (error) {
      rename_or_fail(old, path_);
      fail("cannot move the finished folder into place", path_, error);
    }
  }
  // The temporary's name may now refer to the old folder, which the destructor must not remove.
  committed_ = true;
  remove_own(old, kind_);
}

}  // namespace rayreplay::output
