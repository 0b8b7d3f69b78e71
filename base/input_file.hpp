// Opening of input files that a user names: regular files only, with a limit of size.
//
// Contract: a FIFO, a device or a folder is refused at once, so neither opening nor reading waits for a writer. A
// symbolic link is followed. Every failure is an Error of kind Input that names the file; `noun` is what the error
// calls it ("settings", "swizzle"). The size is checked on opening and again while reading, as a file may grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace rayreplay {

/// The most bytes of a text that people write: settings, sweeps, machines, hints, conditions.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{16} << 20U;

struct OpenInput {
  FileDescriptor file;
  std::uint64_t bytes = 0;  ///< when it was opened
};

[[nodiscard]] OpenInput open_input(const std::filesystem::path& path, std::string_view noun = "file");

/// The whole file; Input where it holds more than `most_bytes`.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, std::uint64_t most_bytes = kMaxTextBytes,
                                         std::string_view noun = "file");

/// The first bytes, at most `count`; fewer where the file is shorter.
[[nodiscard]] std::string read_start(const std::filesystem::path& path, std::size_t count,
                                     std::string_view noun = "file");

/// Input if the path exists and is no regular file. For files that a library opens by name afterwards. A user who may
/// write to the folder can exchange the file in between: the check guards against mistakes, not against such a user.
void require_regular_or_absent(const std::filesystem::path& path, std::string_view noun = "file");

}  // namespace rayreplay
