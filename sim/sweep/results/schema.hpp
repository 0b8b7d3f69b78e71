// The schema of a sweep's database: its mark, and tables `about`, `columns` and `inputs`.
//
// Contract: the mark is SQLite's application_id, the format version is its user_version. Both are checked first, then
// the schema and all rows (`check_database`). `read_about` and `read_columns` check all values; Input says what is
// wrong. Every row has a checksum (row_checksum.hpp).
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/results/columns.hpp"
#include "sim/sweep/results/result_row.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr std::int64_t kApplicationId = 0x52525357;  // "RRSW"
inline constexpr std::int64_t kFormatVersion = 2;
/// The format without checksums: readable, never written.
inline constexpr std::int64_t kFormatWithoutChecksums = 1;
/// Limit of columns of one table. SQLite allows 2000; the rest is free for other programs.
inline constexpr std::size_t kMaxColumns = 1900;

/// True if rows have checksums. Input unless the file is a sweep's database of a known version.
bool check_mark(const Connection& connection);
/// Input unless the file is whole, the schema is word for word that of rayreplay, and every row of every table matches
/// its checksum. Statistics of SQLite (ANALYZE) are allowed. SQLite's own check of the structure is made if the file is
/// small or `after_kill`. Needs a read transaction; reads the whole file.
void check_database(const Connection& connection, bool after_kill);
/// As `check_mark`; also Input, with a remedy, for the older format.
void require_current(const Connection& connection);
/// True for a file without any content.
[[nodiscard]] bool is_empty(const Connection& connection);
/// Needs a transaction of the caller's.
void create(const Connection& connection, const About& about);
[[nodiscard]] About read_about(const Connection& connection);
void write_about(const Connection& connection, const std::string& name, const std::string& value);
[[nodiscard]] std::vector<ResultColumn> read_columns(const Connection& connection);
void add_column(const Connection& connection, const ResultColumn& column);
[[nodiscard]] std::vector<InputFile> read_inputs(const Connection& connection);
/// Runs with an error that may be temporary (too little memory, an unreadable file): the same command evaluates them
/// again.
[[nodiscard]] bool has_retry(const Connection& connection);
/// Usage with the difference, unless both belong to one sweep.
void require_same_sweep(const About& there, const About& asked, const std::string& where);
/// Usage for rows of different versions in one file.
void require_same_version(const std::string& there, const std::string& ours, const std::string& where,
                          const std::string& fix);

}  // namespace rayreplay::sweep
