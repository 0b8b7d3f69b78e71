#include "sim/sweep/results/database_file.hpp"

#include <cstdint>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace rayreplay::sweep {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHeadBytes = 72;  // of SQLite's header, up to and including the application id
const std::string kMagic("SQLite format 3\0", 16);
// https://sqlite.org/fileformat2.html#the_database_header
constexpr std::size_t kWriteVersionAt = 18, kReadVersionAt = 19, kReservedAt = 20, kFractionsAt = 21, kEncodingAt = 59;
constexpr unsigned kRollbackJournal = 1, kWriteAheadLog = 2, kUtf8 = 1;

}  // namespace

fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}

fs::path resolved(fs::path path) {
  constexpr int kMaxLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) {
      break;
    }
    path = path.parent_path() / target;  // an absolute target replaces the path
  }
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorKind::Output, {"the path for the results is not a regular file", path.string(),
                                    fs::is_directory(status) ? "a folder" : "a device or pipe", "the name of a file",
                                    "choose another name with -o"});
  }
  return path;
}

void require_one_name(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t names = fs::hard_link_count(path, error);
  if (!error && names > 1) {
    throw Error(ErrorKind::Output,
                {"the database has several names (hard links), so that two sweeps could write it", path.string(),
                 fmt::format("{} names", names), "1", "copy it, or choose another name with -o"});
  }
}

void check_header(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return;
  }
  const std::string head = read_start(path, kHeadBytes, "database");
  if (head.size() < kHeadBytes || !head.starts_with(kMagic)) {
    return;  // an empty file, or no database; SQLite reports the latter
  }
  const auto byte = [&head](std::size_t at) { return unsigned{static_cast<unsigned char>(head[at])}; };
  const unsigned version = byte(kWriteVersionAt);
  const bool good = (version == kRollbackJournal || version == kWriteAheadLog) && byte(kReadVersionAt) == version &&
                    byte(kReservedAt) == 0 && head.substr(kFractionsAt, 3) == "\x40\x20\x20" &&
                    head.substr(kEncodingAt - 3, 3) == std::string(3, '\0') && byte(kEncodingAt) <= kUtf8;
  if (!good) {
    throw Error(ErrorKind::Input, {"the database's header is damaged", path.string(),
                                   fmt::format("versions {} and {}, reserved {}, encoding {}", version,
                                               byte(kReadVersionAt), byte(kReservedAt), byte(kEncodingAt)),
                                   "versions 1 and 1, reserved 0, encoding 1, as rayreplay writes it",
                                   "copy the file again from where it came; --restart begins the sweep anew"});
  }
}

void remove_database(const fs::path& path) {
  std::error_code absent;
  const std::string head = fs::exists(path, absent) ? read_start(path, kHeadBytes, "database") : std::string();
  if (!head.empty() && (!head.starts_with(kMagic) || head.size() < kHeadBytes || head.substr(68, 4) != "RRSW")) {
    throw Error(ErrorKind::Input, {"the file holds no results of a sweep and is not replaced", path.string(), "", "",
                                   "choose another name with -o"});
  }
  std::error_code ignored;
  fs::remove(path, ignored);  // first, because a journal without its database has no use
  fs::remove(with_suffix(path, "-journal"), ignored);
}

}  // namespace rayreplay::sweep
