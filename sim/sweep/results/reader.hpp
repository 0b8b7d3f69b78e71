// Read access to the results of a sweep, also while they are being written.
//
// Contract: the file is opened read-only; all calls of one object see the same rows. A writer's commit waits for
// readers, so an object should not outlive its work. Rows are ordered by run unless a query says otherwise. Cells have
// the type of their column (truth values are stored as whole numbers); a cell of another type is returned as stored.
// `where` is an expression of expression.hpp, "" for all. Opening compares the schema and checks every row's checksum,
// which takes about as long as reading the file. Errors: Input for files that are not such a database, newer, or
// damaged; Usage for unknown columns (with the nearest) and wrong SQL (with SQLite's reason).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "sim/sweep/results/columns.hpp"
#include "sim/sweep/results/result_row.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

using ResultCell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct ResultSet {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<ResultCell>> rows;
};

class ResultsReader {
 public:
  explicit ResultsReader(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const {
    return connection_.path();
  }
  [[nodiscard]] const About& about() const {
    return about_;
  }
  /// False: the first format, whose rows have no checksums.
  [[nodiscard]] bool has_checksums() const;
  [[nodiscard]] const std::vector<InputFile>& inputs() const {
    return inputs_;
  }
  [[nodiscard]] const std::vector<ResultColumn>& columns() const {
    return columns_;
  }
  /// Usage names the nearest column; `option` appears in the message.
  [[nodiscard]] const ResultColumn& column(const std::string& name, const std::string& option) const;
  /// Metrics with a value in at least one row, in the order of columns.
  [[nodiscard]] std::vector<ResultColumn> metrics() const;

  [[nodiscard]] std::uint64_t count(const std::string& where = "") const;
  [[nodiscard]] std::uint64_t failures() const;
  /// Errors that the same sweep retries: too little memory, an unreadable file.
  [[nodiscard]] std::uint64_t retries() const;
  [[nodiscard]] ResultSet select(const std::vector<std::string>& names, const std::string& where = "") const;
  /// One SELECT of the user's, over the tables runs, columns, about, inputs.
  [[nodiscard]] ResultSet query(const std::string& sql) const;
  /// Distinct texts of a column with role "about", in order.
  [[nodiscard]] std::vector<std::string> distinct(const std::string& name) const;
  /// Usage for an unknown run.
  [[nodiscard]] std::string configuration(std::uint64_t run) const;
  /// All columns of one run.
  [[nodiscard]] ResultSet row(std::uint64_t run) const;

 private:
  [[nodiscard]] const ResultColumn* find(const std::string& name) const;
  /// " WHERE (…)" of the user's condition.
  [[nodiscard]] std::string condition(const std::string& where) const;
  [[nodiscard]] ResultSet collect(Statement& statement, std::vector<ResultColumn> of, const char* option) const;

  Connection connection_;
  About about_;
  std::vector<ResultColumn> columns_;
  std::vector<InputFile> inputs_;
};

/// NaN for anything but a number.
[[nodiscard]] double number(const ResultCell& cell);
[[nodiscard]] bool is_number(const ResultCell& cell);
/// Shortest text that reads back as the same value; "" for NULL.
[[nodiscard]] std::string to_text(const ResultCell& cell);

}  // namespace rayreplay::sweep
