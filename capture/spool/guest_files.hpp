// Files of a guest in somebody's process: nothing of them shows up among the process's standard descriptors.
//
// Contract: a descriptor made here is 3 or greater and closed on exec, also where the process has closed 0, 1 or 2:
// what it then writes to its standard output fails as before and never lands in a file of ours. While a file is being
// opened, closed standard descriptors are held by ones that can be neither read nor written, and are closed again then.
// Folders are made for their owner alone (0700). Thread-safe; POSIX and the standard library alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace rayreplay::spool {

/// As open(2): -1 with errno on failure.
[[nodiscard]] int open_apart(const char* path, int flags, mode_t mode = 0) noexcept;

/// What a regular file holds; nothing, and why, if it is none, cannot be read, or has more than `most` bytes. Never
/// waits for the other end of a pipe.
[[nodiscard]] std::optional<std::string> read_regular(const std::string& path, std::uint64_t most, std::string& why);

/// The folder and those above it, as far as they are missing; false with errno on failure.
[[nodiscard]] bool make_private_folders(const std::string& path);

}  // namespace rayreplay::spool
