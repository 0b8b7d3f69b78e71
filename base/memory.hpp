// How much memory this process may still take, and the refusal of work that needs more.
//
// Contract: asked before a large allocation, so that work which cannot fit ends in an error of kind Resource and not by
// the kernel's hand: Linux promises memory freely and ends the process when the promise falls due. What others take in
// the meantime is not foreseen. Source: proc(5), "Memory Interface Files" of the kernel's cgroup documentation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rayreplay {

/// Bytes: the least of what the system can give without swapping (MemAvailable), what the control groups above this
/// process (v1 and v2) leave with their cached files, which the kernel drops first, counted as free, and what RLIMIT_AS
/// leaves. The largest number if none of them says. `root`: where /proc and /sys are found.
[[nodiscard]] std::uint64_t available_memory(const std::filesystem::path& root = "/");

/// Bytes of this process that are there and that no file backs; 0 where that is not known.
[[nodiscard]] std::uint64_t taken_memory(const std::filesystem::path& root = "/");

/// Throws Resource unless `needed` bytes are available. `what`: the clause that says what is too large, `where`: the
/// option or file that asked for it.
void require_memory(std::uint64_t needed, const std::string& what, const std::string& where, const std::string& fix);

}  // namespace rayreplay
