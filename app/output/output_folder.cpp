#include "app/output/output_folder.hpp"

#include <system_error>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/output_file.hpp"

namespace rayreplay::output {
namespace {

namespace fs = std::filesystem;

/// "out/" and "out" are the same folder; the temporary stands beside it, not in it.
fs::path without_trailing_slash(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::error_code& error) {
  throw Error(ErrorKind::Output, {what, path.string(), error.message(), "", ""});
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    fail("cannot move the finished folder into place", to, error);
  }
}

}  // namespace

void require_folder_writable(const fs::path& given, bool overwrite) {
  const fs::path path = without_trailing_slash(given);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    // The same rules as for a new file: its folder exists and may be written to.
    require_writable(path, false);
    return;
  }
  if (!fs::is_directory(status)) {
    throw Error(ErrorKind::Output, {"the output is a file", path.string(), "", "the name of a folder", ""});
  }
  const bool empty = fs::is_empty(path, error);
  if (error) {
    fail("cannot look into the output folder", path, error);
  }
  if (!empty && !overwrite) {
    throw Error(ErrorKind::Output, {"the output folder exists already and is not empty", path.string(), "", "",
                                    "choose another name, or add --force to replace it"});
  }
}

OutputFolder::OutputFolder(fs::path path, bool overwrite) : path_(without_trailing_slash(path)) {
  require_folder_writable(path_, overwrite);
  temporary_ = path_;
  temporary_ += fmt::format(".part-{}", ::getpid());
  remember_temporary(temporary_);
  std::error_code error;
  fs::create_directory(temporary_, error);
  if (error) {
    forget_temporary(temporary_);
    fail("cannot create the output folder", temporary_, error);
  }
}

OutputFolder::~OutputFolder() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    forget_temporary(temporary_);
  }
}

void OutputFolder::commit() {
  forget_temporary(temporary_);
  std::error_code error;
  if (fs::exists(path_, error)) {
    fs::path old = path_;
    old += fmt::format(".old-{}", ::getpid());
    rename_or_fail(path_, old);
    fs::rename(temporary_, path_, error);
    if (error) {
      rename_or_fail(old, path_);
      fail("cannot move the finished folder into place", path_, error);
    }
    fs::remove_all(old, error);
  } else {
    rename_or_fail(temporary_, path_);
  }
  committed_ = true;
}

}  // namespace rayreplay::output
