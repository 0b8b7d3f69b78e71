// What every database of a sweep has besides its rows: the mark, and tables `about`, `columns` and `inputs`.
//
// Contract: the mark is SQLite's application_id, the format's version its user_version; both are checked before
// anything is read, then the schema and all rows (`check_content`). `read_about` and `read_columns` check all that they
// return: Input names what is wrong. Tables have a checksum a row (row_checksum.hpp).
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/results/columns.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr std::int64_t kApplicationId = 0x52525357;  // "RRSW"
inline constexpr std::int64_t kFormatVersion = 2;
/// Without checksums: read, and never added to.
inline constexpr std::int64_t kFormatWithoutChecksums = 1;
/// Columns of one table at most: of SQLite's 2000 some stay free for other programs.
inline constexpr std::size_t kMostColumns = 1900;

/// Whether its rows have checksums. Input unless it is a database of a sweep, in a version that is known.
bool check_mark(const Connection& connection);
/// Input unless the schema is word for word the one that we make and has nothing else in it, and every row of every
/// table has its checksum. In a read transaction. Reads the whole file. SQLite's statistics (ANALYZE) may be there.
void check_content(const Connection& connection);
/// As `check_mark`; Input, with a remedy, for an older format too.
void require_current(const Connection& connection);
/// SQLite's own look at the structure, where the file is small or `always`.
void check_structure(const Connection& connection, bool always);
/// Nothing was ever written to it.
[[nodiscard]] bool is_empty(const Connection& connection);
/// In a transaction of the caller's.
void create(const Connection& connection, const About& about);
[[nodiscard]] About read_about(const Connection& connection);
void write_about(const Connection& connection, const std::string& name, const std::string& value);
[[nodiscard]] std::vector<ResultColumn> read_columns(const Connection& connection);
void add_column(const Connection& connection, const ResultColumn& column);
[[nodiscard]] std::vector<InputFile> read_inputs(const Connection& connection);
/// Of the file, in a read transaction: Input where its last page is cut off.
void require_whole(const Connection& connection);
/// A table of runs whose error may pass (too little memory, a file that cannot be read): tried again by the same
/// command.
[[nodiscard]] bool has_retry(const Connection& connection);
/// Usage that says what differs, where both are not of one sweep.
void require_same_sweep(const About& there, const About& asked, const std::string& where);

}  // namespace rayreplay::sweep
