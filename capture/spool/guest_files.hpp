// Files of the capture layer, a guest in the application's process: they never take its standard descriptors.
//
// Contract: a descriptor made here is 3 or greater and closed on exec, also where the process has closed 0, 1 or 2:
// its writes to standard output then fail as before and never land in a file of ours. While a file is being opened,
// closed standard descriptors are occupied by descriptors that can be neither read nor written, and closed again after.
// Folders are made for their owner alone (0700). Thread-safe; POSIX and the standard library alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace rayreplay::spool {

/// As open(2): -1 with errno on failure.
[[nodiscard]] int open_apart(const char* path, int flags, mode_t mode = 0) noexcept;

/// The content of a regular file. None, with the reason in `why`, if the file is not regular, cannot be read, or has
/// more than `most` bytes. Never waits for the other end of a pipe.
[[nodiscard]] std::optional<std::string> read_regular(const std::string& path, std::uint64_t most, std::string& why);

/// The folder and those above it, as far as they are missing; false with errno on failure.
[[nodiscard]] bool make_private_folders(const std::string& path);

}  // namespace rayreplay::spool
