#include "sim/sweep/results/database_file.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::sweep {

namespace fs = std::filesystem;

fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}

fs::path resolved(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) {
      break;
    }
    path = path.parent_path() / target;  // an absolute target stands alone
  }
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorKind::Output, {"results cannot be written to what is no file", path.string(),
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

void remove_database(const fs::path& path) {
  std::string head(72, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto got = static_cast<std::size_t>(file.gcount());
  file.close();
  if (got > 0 && (!head.starts_with(std::string("SQLite format 3\0", 16)) || head.substr(68, 4) != "RRSW")) {
    throw Error(ErrorKind::Input, {"the file holds no results of a sweep and is not replaced", path.string(), "", "",
                                   "choose another name with -o"});
  }
  std::error_code ignored;
  fs::remove(path, ignored);  // first: a journal without its database is nothing
  fs::remove(with_suffix(path, "-journal"), ignored);
}

}  // namespace rayreplay::sweep
