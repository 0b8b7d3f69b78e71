// Checksums of rows: each table of a database has a column `checksum`.
//
// Contract: XXH3-64, seeded with the table's name, over the non-NULL cells of the row in the order of their columns'
// names. Each cell contributes the XXH3-64 of its column's name, a letter for its type, and its value (little-endian; a
// text is preceded by its length). The order of columns and unused columns therefore make no difference, and merged
// rows keep their checksum. -0 hashes as 0, because SQLite does not distinguish them. Checksums detect damage by
// storage and transfer, not deliberate changes.
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
  /// `names`: the columns, in the order of the cells.
  RowChecksum(std::string_view table, const std::vector<std::string>& names);
  /// As many cells as names.
  [[nodiscard]] std::int64_t of(const std::vector<CellView>& cells);
  /// Cells are the statement's columns from `first` on.
  [[nodiscard]] std::int64_t of(const Statement& row, int first);

 private:
  void add(std::size_t column, char type, const void* value, std::size_t bytes);
  void add(std::size_t column, const CellView& cell);
  [[nodiscard]] std::int64_t finish();

  std::uint64_t seed_;
  std::vector<std::uint64_t> name_hashes_;
  std::vector<std::size_t> order_;  ///< by name
  std::string buffer_;
};

/// INSERT OR REPLACE of one row with its checksum. Texts are stored in columns of type TEXT, numbers in INTEGER.
void insert_row(const Connection& connection, const std::string& table,
                const std::vector<std::pair<std::string, CellView>>& cells);

/// Input with the first row whose checksum does not match.
void verify_rows(const Connection& connection, const std::string& table);
/// Recomputes the checksums of rows of `runs`. `where`: trusted SQL.
void reseal_runs(const Connection& connection, const std::string& where);

}  // namespace rayreplay::sweep
