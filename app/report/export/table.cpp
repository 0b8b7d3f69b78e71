#include "app/report/export/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/parameters.hpp"
#include "base/text.hpp"

namespace rayreplay::output {
namespace {

constexpr double kLongest = 1e15;  ///< larger numbers are written with an exponent

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<double>(cell);
}

/// Width on the terminal in code points, which is right for alphabetic scripts.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return right ? space + text : text + space;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// A number, or the dash for a missing one, which is no formula.
bool is_plain_number(std::string_view text) {
  if (text == "-") {
    return true;
  }
  text.remove_prefix(!text.empty() && (text.front() == '+' || text.front() == '-') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text.front() != '-';
}

/// True if a spreadsheet would read the text as a formula (rule: table.hpp).
bool wants_apostrophe(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r'").find(text.front()) != std::string_view::npos &&
         !is_plain_number(text);
}

std::string csv_quoted(const std::string& given) {
  // Control characters are shown as on a terminal ("\\x1b"): a row stays one line, and no terminal obeys a cell.
  const std::string printed = text::printable(given);
  const std::string text = wants_apostrophe(printed) ? "'" + printed : printed;
  if (text.find_first_of(",\"") == std::string::npos) {
    return text;
  }
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') {
      result += c;
    }
  }
  return result + "\"";
}

std::string csv_cell(const Cell& cell) {
  if (const bool* truth = std::get_if<bool>(&cell)) {
    return *truth ? "true" : "false";
  }
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return fmt::format("{}", *number);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    return std::isfinite(*number) ? fmt::format("{}", *number) : std::string();
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? csv_quoted(*text) : std::string();
}

nlohmann::ordered_json json_cell(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = {"table", "json", "csv"};
  return names;
}

Format parse_format(const std::string& name) {
  const auto& names = format_names();
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) {
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::Usage,
                {"unknown output format", "--format", "'" + name + "'",
                 fmt::format("one of {}", fmt::join(names, ", ")), near.empty() ? "" : "did you mean '" + near + "'?"});
  }
  return static_cast<Format>(place - names.begin());
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1024;
  }
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string percent_text(double share, int decimals) {
  const double percent = share * 100;
  return std::abs(percent) < kLongest ? fmt::format("{:.{}f} %", percent, decimals) : fmt::format("{:.3g} %", percent);
}

std::string cell_text(const Cell& cell, const Column& column) {
  if (std::holds_alternative<std::monostate>(cell)) {
    return "-";
  }
  if (const bool* truth = std::get_if<bool>(&cell)) {
    return *truth ? "yes" : "no";
  }
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return with_separators(*number);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    if (!std::isfinite(*number)) {
      return "-";
    }
    switch (column.show) {
      case Show::Percent:
        return percent_text(*number, column.decimals);
      case Show::Change:
        return (std::signbit(*number) ? "" : "+") + percent_text(*number, column.decimals);
      case Show::Plain:
        return std::abs(*number) < kLongest ? fmt::format("{:.{}f}", *number, column.decimals)
                                            : fmt::format("{:.3g}", *number);
    }
  }
  return std::get<std::string>(cell);
}

Table only(const Table& table, std::span<const std::string_view> keys) {
  std::vector<std::size_t> places;
  Table result;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (std::ranges::find(keys, table.columns[i].key) != keys.end()) {
      places.push_back(i);
      result.columns.push_back(table.columns[i]);
      result.columns.back().detail = false;
    }
  }
  for (const auto& row : table.rows) {
    result.rows.emplace_back();
    std::ranges::transform(places, std::back_inserter(result.rows.back()), [&row](std::size_t i) { return row[i]; });
  }
  return result;
}

std::string to_text(const Table& table) {
  std::vector<std::string> lines(table.rows.size() + 2);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.detail) {
      continue;
    }
    const bool right =
        std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return is_number(row[i]); });
    // Titles too, because column names of a database are untrusted text.
    std::vector<std::string> cells = {text::printable(column.title), ""};
    std::size_t width = display_width(cells.front());
    for (const auto& row : table.rows) {
      cells.push_back(text::printable(cell_text(row[i], column)));
      width = std::max(width, display_width(cells.back()));
    }
    for (std::size_t line = 0; line < lines.size(); ++line) {
      lines[line] += lines[line].empty() ? "" : "  ";
      lines[line] += line == 1 ? std::string(width, '-') : padded(cells[line], width, right);
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += trimmed(line) + "\n";
  }
  return text;
}

std::string to_csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += csv_quoted(table.columns[i].key);
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? "" : ",";
      text += csv_cell(row[i]);
    }
    text += "\r\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const Table& table) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i].key] = json_cell(row[i]);
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string render(const Result& result, Format format) {
  switch (format) {
    case Format::Table:
      return result.text();
    case Format::Csv:
      return to_csv(result.rows());
    case Format::Json:
      return json_text(result.document(), 2) + "\n";
  }
  throw Error(ErrorKind::Internal, {"a result was asked for in an unknown format", "", "", "", ""});
}

std::string render(const Table& table, Format format) {
  return render({[&] { return to_text(table); }, [&] { return table; }, [&] { return to_json(table); }}, format);
}

}  // namespace rayreplay::output
