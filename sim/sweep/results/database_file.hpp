// The file of a database and its companions (lock, journal).
//
// Contract: `resolved` follows symbolic links, so that lock and journal are beside the file itself; Output for anything
// but a file. `require_one_name`: Output for a file with hard links, which would have several locks and journals.
// `remove_database` removes a sweep's database, however damaged, and refuses any other file (Input).
#pragma once

#include <filesystem>

namespace rayreplay::sweep {

[[nodiscard]] std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix);
[[nodiscard]] std::filesystem::path resolved(std::filesystem::path path);
void require_one_name(const std::filesystem::path& path);
/// Input if the fixed bytes of SQLite's header differ from what rayreplay writes (or a program that set another journal
/// mode). SQLite opens such a file, but read-only or in another encoding. Does nothing if there is no file yet.
void check_header(const std::filesystem::path& path);
void remove_database(const std::filesystem::path& path);

}  // namespace rayreplay::sweep
