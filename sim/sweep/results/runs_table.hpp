// Table `runs` of an open database: rows go in, columns of open tables come with the first row that has them.
//
// Contract: all calls but `columns` and `has` in a transaction of the connection, which lives longer than this. The
// same run twice replaces. A key for which there is no column (too many, or a name that differs in case alone) is in
// `configuration` all the same. Table `retry` follows. Internal for a run or a metric that the sweep does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sweep/results/columns.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

class RunsTable {
 public:
  /// `runs`: of the sweep.
  RunsTable(const Connection& connection, std::uint64_t runs);

  void insert(const ResultRow& row);
  /// Its column, added where there is none; false where there can be none.
  bool add(const std::string& key, Role role);
  [[nodiscard]] bool has(const std::string& name) const {
    return places_.contains(name);
  }
  /// Somebody else wrote table `retry`.
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
  std::vector<CellView> cells_;  ///< of the row that is being inserted
  bool read_back_ = false;       ///< SQLite stores a value of it in another form
  std::vector<ResultColumn> columns_;
  std::unordered_map<std::string, int> places_;  ///< of the statement's parameters; from 1
  std::set<std::string> names_, left_out_;
  bool any_retry_ = false;
};

}  // namespace rayreplay::sweep
