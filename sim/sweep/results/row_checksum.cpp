#include "sim/sweep/results/row_checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.hpp"

namespace rayreplay::sweep {
namespace {

static_assert(std::endian::native == std::endian::little, "checksums are of little-endian values");

constexpr char kInteger = 'i', kReal = 'r', kText = 't';

std::uint64_t hash_of(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

/// The columns of a table, without `checksum`.
std::vector<std::string> columns_of(const Connection& connection, const std::string& table) {
  std::vector<std::string> names;
  Statement info = connection.prepare("SELECT name FROM pragma_table_info(?)");
  info.bind(1, std::string_view(table));
  while (info.step()) {
    if (std::string name = info.text(0); name != kChecksumColumn) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// "SELECT checksum, …", and the hash of its rows.
struct Rows {
  Statement statement;
  RowChecksum checksum;
  std::vector<std::string> names;
};

Rows rows_of(const Connection& connection, const std::string& table, const std::string& where) {
  std::vector<std::string> names = columns_of(connection, table);
  std::ranges::sort(names);  // in the order of the hash: cells are decoded once, from the front
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  std::ranges::transform(names, std::back_inserter(quoted), [](const std::string& name) { return sql_name(name); });
  Statement statement = connection.prepare(
      fmt::format("SELECT {}, {} FROM {}{}", kChecksumColumn, fmt::join(quoted, ", "), sql_name(table), where));
  return {std::move(statement), RowChecksum(table, names), std::move(names)};
}

std::string place_of(const Statement& row, const std::vector<std::string>& names) {
  for (const char* key : {"run", "name", "path"}) {
    if (const auto found = std::ranges::find(names, key); found != names.end()) {
      return fmt::format("{} {}", key, row.text(1 + static_cast<int>(found - names.begin())));
    }
  }
  return "";
}

}  // namespace

RowChecksum::RowChecksum(std::string_view table, const std::vector<std::string>& names)
    : seed_(hash_of(table)), order_(names.size()) {
  name_hashes_.reserve(names.size());
  for (const std::string& name : names) {
    name_hashes_.push_back(hash_of(name));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, {}, [&names](std::size_t i) -> const std::string& { return names[i]; });
}

void RowChecksum::add(std::size_t column, char type, const void* value, std::size_t bytes) {
  buffer_.append(reinterpret_cast<const char*>(&name_hashes_[column]), sizeof(std::uint64_t));
  buffer_ += type;
  if (type == kText) {
    const std::uint64_t length = bytes;
    buffer_.append(reinterpret_cast<const char*>(&length), sizeof(length));
  }
  if (bytes > 0) {
    buffer_.append(static_cast<const char*>(value), bytes);
  }
}

void RowChecksum::add(std::size_t column, const CellView& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    add(column, kInteger, whole, sizeof(*whole));
  } else if (const auto* real = std::get_if<double>(&cell)) {
    const double value = *real + 0.0;  // -0 becomes 0
    add(column, kReal, &value, sizeof(value));
  } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
    add(column, kText, text->data(), text->size());
  }
}

std::int64_t RowChecksum::finish() {
  const auto sum = static_cast<std::int64_t>(XXH3_64bits_withSeed(buffer_.data(), buffer_.size(), seed_));
  buffer_.clear();
  return sum;
}

std::int64_t RowChecksum::of(const std::vector<CellView>& cells) {
  for (const std::size_t column : order_) {
    add(column, cells[column]);
  }
  return finish();
}

std::int64_t RowChecksum::of(const Statement& row, int first) {
  for (const std::size_t column : order_) {
    add(column, row.cell(first + static_cast<int>(column)));
  }
  return finish();
}

void insert_row(const Connection& connection, const std::string& table,
                const std::vector<std::pair<std::string, CellView>>& cells) {
  std::vector<std::string> names, quoted;
  std::vector<CellView> values;
  for (const auto& [name, value] : cells) {
    names.push_back(name);
    quoted.push_back(sql_name(name));
    values.push_back(value);
  }
  std::string marks = "?";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    marks += ", ?";
  }
  Statement insert = connection.prepare(fmt::format("INSERT OR REPLACE INTO {} ({}, {}) VALUES ({})", sql_name(table),
                                                    fmt::join(quoted, ", "), kChecksumColumn, marks));
  int place = 1;
  for (const CellView& value : values) {
    insert.bind(place++, value);
  }
  insert.bind(place, RowChecksum(table, names).of(values));
  insert.step();
}

void verify_rows(const Connection& connection, const std::string& table) {
  Rows rows = rows_of(connection, table, "");
  while (rows.statement.step()) {
    const std::int64_t found = rows.checksum.of(rows.statement, 1);
    if (rows.statement.type(0) != SQLITE_INTEGER || rows.statement.whole(0) != found) {
      throw Error(ErrorKind::Input, {"a row of the database is damaged: its values are not what was written",
                                     fmt::format("{}: table {}, {}", connection.path().string(), table,
                                                 place_of(rows.statement, rows.names)),
                                     fmt::format("checksum {:016x}", static_cast<std::uint64_t>(found)),
                                     rows.statement.type(0) == SQLITE_INTEGER
                                         ? fmt::format("{:016x}", static_cast<std::uint64_t>(rows.statement.whole(0)))
                                         : "a checksum",
                                     "copy the file again from where it came; --restart begins the sweep anew"});
    }
  }
}

void reseal_runs(const Connection& connection, const std::string& where) {
  Rows rows = rows_of(connection, "runs", where);
  const auto run = std::ranges::find(rows.names, "run") - rows.names.begin();
  std::vector<std::pair<std::int64_t, std::int64_t>> sums;
  while (rows.statement.step()) {
    const std::int64_t key = rows.statement.whole(1 + static_cast<int>(run));
    sums.emplace_back(key, rows.checksum.of(rows.statement, 1));
  }
  rows.statement.reset();
  Statement update = connection.prepare("UPDATE main.runs SET checksum = ? WHERE run = ?");
  for (const auto& [key, sum] : sums) {
    update.bind(1, sum);
    update.bind(2, key);
    update.step();
    update.reset();
  }
}

}  // namespace rayreplay::sweep
