#include "base/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The number after `key` in a file of "key number" lines.
std::uint64_t number_after(const std::filesystem::path& path, std::string_view key, std::uint64_t fallback) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  std::string rest;
  while (file >> word >> number) {
    if (word == key) {
      return number;
    }
    std::getline(file, rest);
  }
  return fallback;
}

/// The number that is the file; the fallback if it says something else, such as "max".
std::uint64_t number_in(const std::filesystem::path& path, std::uint64_t fallback) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : fallback;
}

std::uint64_t left_by_system(const std::filesystem::path& root) {
  const std::uint64_t kibibytes = number_after(root / "proc/meminfo", "MemAvailable:", kNoLimit);
  return kibibytes > kNoLimit >> 10U ? kNoLimit : kibibytes << 10U;
}

std::uint64_t left_by_group(const std::filesystem::path& group) {
  const std::uint64_t most = number_in(group / "memory.max", kNoLimit);
  if (most == kNoLimit) {
    return kNoLimit;
  }
  const std::uint64_t taken = number_in(group / "memory.current", 0);
  const std::uint64_t reclaimable = std::min(taken, number_after(group / "memory.stat", "inactive_file", 0));
  return most - std::min(most, taken - reclaimable);
}

/// Every group above this process's own limits it too.
std::uint64_t left_by_groups(const std::filesystem::path& root) {
  constexpr std::string_view kVersion2 = "0::/";
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(kVersion2)) {
      continue;
    }
    const std::filesystem::path top = root / "sys/fs/cgroup";
    std::filesystem::path group = top;
    std::uint64_t left = left_by_group(group);
    for (const auto& name : std::filesystem::path(line.substr(kVersion2.size()))) {
      group /= name;
      left = std::min(left, left_by_group(group));
    }
    return left;
  }
  return kNoLimit;
}

std::uint64_t left_by_address_space(const std::filesystem::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kNoLimit;
  }
  const std::uint64_t pages = number_in(root / "proc/self/statm", 0);
  const std::uint64_t taken = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, taken);
}

}  // namespace

std::uint64_t available_memory(const std::filesystem::path& root) {
  return std::min({left_by_system(root), left_by_groups(root), left_by_address_space(root)});
}

void require_memory(std::uint64_t needed, const std::string& what, const std::string& where, const std::string& fix) {
  const std::uint64_t available = available_memory();
  if (needed > available) {
    throw Error(ErrorKind::Resource, {what, where, fmt::format("{} bytes needed", needed),
                                      fmt::format("at most {} bytes available", available), fix});
  }
}

}  // namespace rayreplay
