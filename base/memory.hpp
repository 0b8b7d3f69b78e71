// How much memory this process may still take, and the refusal of work that needs more.
//
// Contract: called before a large allocation, so that work that does not fit ends with an error of kind Resource. Linux
// overcommits memory: the allocation would succeed, and the OOM killer would end the process later. Memory that other
// processes take after the check is not considered. Source: proc(5), "Memory Interface Files" of the kernel's cgroup
// documentation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rayreplay {

/// The smallest of three limits, in bytes: MemAvailable (memory without swapping); the rest of every control group
/// above this process (v1 and v2), where cached files count as free because the kernel drops them first; the rest of
/// RLIMIT_AS. The largest number if all three are unknown. `root`: where /proc and /sys are found.
[[nodiscard]] std::uint64_t available_memory(const std::filesystem::path& root = "/");

/// Anonymous resident bytes of this process; 0 if unknown.
[[nodiscard]] std::uint64_t taken_memory(const std::filesystem::path& root = "/");

/// Throws Resource unless `needed` bytes are available. `what`: the clause that says what is too large, `where`: the
/// option or file that asked for it.
void require_memory(std::uint64_t needed, const std::string& what, const std::string& where, const std::string& fix);

}  // namespace rayreplay
