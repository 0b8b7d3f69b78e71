// The file of a database, and what stands beside it.
//
// Contract: `resolved` follows symbolic links, so that lock and journal stand beside the file itself; Output for what
// is no file. `require_one_name`: Output for a file of several names (hard links), which would have several locks and
// journals. `remove_database` throws away a database of a sweep, however damaged, and nothing else (Input).
#pragma once

#include <filesystem>

namespace rayreplay::sweep {

[[nodiscard]] std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix);
[[nodiscard]] std::filesystem::path resolved(std::filesystem::path path);
void require_one_name(const std::filesystem::path& path);
/// Input where the fixed bytes of SQLite's header have values that we, or a program that set another journal mode, do
/// not write: SQLite opens such a file, but read-only or in another encoding. Nothing where there is no file yet.
void check_header(const std::filesystem::path& path);
void remove_database(const std::filesystem::path& path);

}  // namespace rayreplay::sweep
