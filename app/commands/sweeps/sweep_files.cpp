#include "app/commands/sweeps/sweep_files.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/commands/options/options.hpp"
#include "base/error.hpp"

namespace rayreplay::app {

namespace fs = std::filesystem;

Shard parse_shard(const std::string& text) {
  if (text.empty()) {
    return {};
  }
  const std::size_t slash = text.find('/');
  const auto number = [&](const std::string& part) -> std::uint32_t {
    const bool digits = !part.empty() && part.size() <= 6 && part.find_first_not_of("0123456789") == std::string::npos;
    return digits ? static_cast<std::uint32_t>(std::stoul(part)) : 0;
  };
  const std::uint32_t index = slash == std::string::npos ? 0 : number(text.substr(0, slash));
  const std::uint32_t count = slash == std::string::npos ? 0 : number(text.substr(slash + 1));
  if (index == 0 || count == 0 || index > count) {
    throw Error(ErrorKind::Usage,
                {"a shard is not understood", "--shard", "'" + text + "'", "i/N with i from 1 to N, such as 1/4", ""});
  }
  return {index - 1, count};
}

std::string database_path(const std::string& sweep, const std::string& asked, const Shard& shard, bool writes) {
  if (!asked.empty()) {
    require_file_name(asked, "--output");
    return asked;
  }
  fs::path path(sweep);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  // /dev/stdin may be a link to a file, but is not a named file.
  const std::string place = fs::absolute(path, ignored).lexically_normal().string();
  // Folders are reported by the reader.
  const bool no_file = (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) ||
                       place.starts_with("/dev/") || place.starts_with("/proc/");
  if (no_file && writes) {
    throw Error(ErrorKind::Usage, {"the database has no default name, because the sweep is not a file", sweep, "", "",
                                   "name the database with -o"});
  }
  if (path.extension() == ".toml") {
    path.replace_extension();
  }
  path += shard.count > 1 ? fmt::format(".{}of{}.db", shard.index + 1, shard.count) : std::string(".db");
  return path.string();
}

}  // namespace rayreplay::app
