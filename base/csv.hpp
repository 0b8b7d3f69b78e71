// CSV from outside: RFC 4180 with a header line.
//
// Contract: cells are separated by commas and may stand in double quotes, within which commas, line ends and doubled
// quotes ("") belong to the text. Lines end with LF or CR LF. A mark of byte order (U+FEFF) at the start, and lines
// without a character, are skipped. Cells are neither trimmed nor converted. Every row has as many cells as the header;
// names of columns are not empty and unique. Errors: Input with source, line and, inside a line, the byte's place in it
// ("m.csv:3:17"): no header, a row with too few or too many cells, a quote inside a cell or without an end, text behind
// a closing quote, bytes that are no UTF-8, NUL, more rows than `most_rows`. O(bytes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay {

struct CsvRow {
  std::uint64_t line = 0;  ///< of the source, counted from 1, on which the row starts
  std::vector<std::string> cells;
};

struct CsvTable {
  std::string source;
  CsvRow header;
  std::vector<CsvRow> rows;

  /// The number of the column with this name.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// "m.csv:3, column 2 (value)": for messages about a cell.
  [[nodiscard]] std::string place(const CsvRow& row, std::size_t column) const;
};

[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& source, std::size_t most_rows);

}  // namespace rayreplay
