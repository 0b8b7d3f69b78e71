// Table: rows of typed cells, and the three output formats of every command.
//
// Contract: a column has a key (JSON and CSV: stable, snake_case) and a title (text). Cells are empty, text, whole
// numbers, reals or truth values. Text: aligned columns (numbers right), reals with the column's decimals, percentages
// if the column is one. Columns marked `detail` are left out. Control and invisible characters are spelled out
// (base/text.hpp) before widths are measured. CSV: RFC 4180 with a header line, every column, and the shortest text of
// a real that reads back as itself. A text that starts with = + - @ ' TAB or CR, and is no number, gets an apostrophe
// in front, so that no spreadsheet reads it as a formula; a reader of the file drops one leading apostrophe. All CSV of
// the project goes through `to_csv`. JSON: a list of objects, every column; empty cells are null, and so are NaN and
// infinities, which JSON does not have. The output ends with a newline.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rayreplay::output {

enum class Format : std::uint8_t { Table, Json, Csv };

[[nodiscard]] const std::vector<std::string>& format_names();
[[nodiscard]] Format parse_format(const std::string& name);  ///< Usage names the nearest

using Cell = std::variant<std::monostate, bool, std::uint64_t, double, std::string>;

enum class Show : std::uint8_t {
  Plain,    ///< unscaled
  Percent,  ///< 0.65 as "65.0 %"
  Change,   ///< 0.05 as "+5.0 %"
};

struct Column {
  std::string key;
  std::string title;
  Show show = Show::Plain;
  int decimals = 2;     ///< of reals, in text
  bool detail = false;  ///< JSON and CSV only
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< as many cells as columns
};

/// The columns that have one of these keys, none of them as detail.
[[nodiscard]] Table only(const Table& table, std::span<const std::string_view> keys);

[[nodiscard]] std::string to_text(const Table& table);
[[nodiscard]] std::string to_csv(const Table& table);
[[nodiscard]] nlohmann::ordered_json to_json(const Table& table);

/// A command's output in each format; only the requested one is made.
struct Result {
  std::function<std::string()> text;
  std::function<Table()> rows;  ///< of the CSV
  std::function<nlohmann::ordered_json()> document;
};
[[nodiscard]] std::string render(const Result& result, Format format);
/// The whole output of a command that prints one table.
[[nodiscard]] std::string render(const Table& table, Format format);

/// One cell as `to_text` shows it, without padding.
[[nodiscard]] std::string cell_text(const Cell& cell, const Column& column);

/// "12.5 %" of 0.125: for display.
[[nodiscard]] std::string percent_text(double share, int decimals);

/// "1.21 GiB": for display.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace rayreplay::output
