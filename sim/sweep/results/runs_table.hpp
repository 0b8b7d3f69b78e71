// Table `runs` of an open database: inserts rows, and adds columns of open tables with the first row that has them.
//
// Contract: all calls but `columns` and `has` need a transaction of the connection, which must outlive this object. A
// second row of a run replaces the first. A key without a column (too many columns, or a name that differs only in
// case) is still in `configuration`. Table `retry` is updated too. Internal for a run or a metric that the sweep does
// not have.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sweep/results/columns.hpp"
#include "sim/sweep/results/result_row.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

class RunsTable {
 public:
  /// `runs`: number of runs of the sweep.
  RunsTable(const Connection& connection, std::uint64_t runs);

  void insert(const ResultRow& row);
  /// The key's column, added if it is missing; false if it cannot have one.
  bool add(const std::string& key, Role role);
  [[nodiscard]] bool has(const std::string& name) const {
    return places_.contains(name);
  }
  /// Another writer changed table `retry`.
  void retry_was_written() {
    any_retry_ = true;
  }

 private:
  int place(const std::string& key, Role role);
  void read_again();
  void set(int place, const ParameterValue& value);
  void set(int place, CellView value);
  void note_retry(const ResultRow& row);

  const Connection* connection_;
  std::uint64_t runs_;
  Statement insert_;
  std::optional<RowChecksum> checksum_;
  std::vector<CellView> cells_;  ///< of the row under insertion
  bool read_back_ = false;       ///< SQLite converts a value of it
  std::vector<ResultColumn> columns_;
  std::unordered_map<std::string, int> places_;  ///< of the statement's parameters, counted from 1
  std::set<std::string> names_, left_out_;
  bool any_retry_ = false;
};

}  // namespace rayreplay::sweep
