// Checksums of rows: each table of a database has a column `checksum`.
//
// Contract: XXH3-64 with the table's name as its seed, over the cells of the row that are not NULL, in the order of
// their columns' names: the XXH3-64 of the name, a letter for the type, the value (little-endian; a text with its
// length first). The order of columns in the file and columns that a row does not use thus make no difference, so that
// rows keep their checksum when databases are merged. -0 counts as 0, which SQLite does not tell apart. It finds
// damage by storage and transfer, not deliberate changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr const char* kChecksumColumn = "checksum";

class RowChecksum {
 public:
  /// `names`: the columns, in the order of their cells.
  RowChecksum(std::string_view table, const std::vector<std::string>& names);
  /// Of as many cells.
  [[nodiscard]] std::int64_t of(const std::vector<CellView>& cells);
  /// Of the statement's columns `first` and later ones.
  [[nodiscard]] std::int64_t of(const Statement& row, int first);

 private:
  void begin();
  void add(std::size_t column, char type, const void* value, std::size_t bytes);
  [[nodiscard]] std::int64_t finish() const;

  std::uint64_t seed_;
  std::vector<std::uint64_t> name_hashes_;
  std::vector<std::size_t> order_;  ///< by name
  std::string buffer_;
};

/// INSERT OR REPLACE of one row with its checksum. Texts are stored in columns of type TEXT, numbers in INTEGER.
void insert_row(const Connection& connection, const std::string& table,
                const std::vector<std::pair<std::string, CellView>>& cells);

/// Input that names the first row whose checksum is another one.
void verify_rows(const Connection& connection, const std::string& table);
/// Computes the checksums of rows of `runs` anew. `where`: SQL, of ours.
void reseal_runs(const Connection& connection, const std::string& where);

}  // namespace rayreplay::sweep
