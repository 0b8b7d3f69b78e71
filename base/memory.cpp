#include "base/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The file's first number; nothing if it has none, as "max" of version 2.
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The number after `key` in a file of keys and numbers.
std::optional<std::uint64_t> value_of(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  std::string name;
  while (file >> name) {
    std::uint64_t number = 0;
    if (name == key && file >> number) {
      return number;
    }
    std::getline(file, line);
  }
  return std::nullopt;
}

std::uint64_t less(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

std::uint64_t system_memory(const fs::path& root) {
  const std::optional<std::uint64_t> kibibytes = value_of(root / "proc/meminfo", "MemAvailable:");
  return kibibytes ? *kibibytes << 10 : kNoLimit;
}

/// What differs between the versions of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* active_files;
  const char* inactive_files;
};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "active_file", "inactive_file"};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
                               "total_inactive_file"};

std::uint64_t left_in_group(const fs::path& group, const GroupFiles& files) {
  const std::optional<std::uint64_t> limit = number_in(group / files.limit);
  const std::optional<std::uint64_t> used = number_in(group / files.used);
  if (!limit || !used) {
    return kNoLimit;
  }
  const fs::path statistics = group / "memory.stat";
  const std::uint64_t cached =
      value_of(statistics, files.active_files).value_or(0) + value_of(statistics, files.inactive_files).value_or(0);
  return less(*limit, less(*used, cached));
}

/// The least of the limits of the group and of all its parents. Inside a container, the container's own group is the
/// mount point, whatever the path says, and its parents are invisible.
std::uint64_t left_in_groups(const fs::path& mount, const fs::path& group, const GroupFiles& files) {
  std::uint64_t least = left_in_group(mount, files);
  fs::path at = mount;
  for (const fs::path& part : group.relative_path()) {
    at /= part;
    least = std::min(least, left_in_group(at, files));
  }
  return least;
}

std::uint64_t group_memory(const fs::path& root) {
  std::uint64_t least = kNoLimit;
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  // "0::/path" is version 2, "4:memory,…:/path" version 1.
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (line.compare(0, second + 1, "0::") == 0) {
      least = std::min(least, left_in_groups(root / "sys/fs/cgroup", group, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, left_in_groups(root / "sys/fs/cgroup/memory", group, kVersion1));
    }
  }
  return least;
}

std::uint64_t address_space(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kNoLimit;
  }
  const std::uint64_t pages = number_in(root / "proc/self/statm").value_or(0);
  return less(limit.rlim_cur, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::uint64_t available_memory(const fs::path& root) {
  return std::min({system_memory(root), group_memory(root), address_space(root)});
}

std::uint64_t taken_memory(const fs::path& root) {
  std::ifstream file(root / "proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  file >> all >> resident >> shared;
  return file ? less(resident, shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void require_memory(std::uint64_t needed, const std::string& what, const std::string& where, const std::string& fix) {
  const std::uint64_t available = available_memory();
  if (needed > available) {
    throw Error(ErrorKind::Resource, {what, where, fmt::format("{} bytes needed", needed),
                                      fmt::format("at most {} bytes available", available), fix});
  }
}

}  // namespace rayreplay
