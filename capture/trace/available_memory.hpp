// How much memory this process may still take. Internal to this room.
//
// Contract: the least, in bytes, of what the system can give without swapping (MemAvailable), of what each control
// group above this process leaves (version 2: memory.max less memory.current; version 1 likewise; cached files, which
// the kernel drops first, count as free) and of what RLIMIT_AS leaves of the address space. A limit that the system
// does not tell is none; 2^64 - 1 if there are none. `root`: where /proc and /sys are. Sources: the kernel's
// admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, proc(5), getrlimit(2).
#pragma once

#include <cstdint>
#include <filesystem>

namespace rayreplay::trace {

[[nodiscard]] std::uint64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace rayreplay::trace
