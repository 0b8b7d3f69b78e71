// The columns of table `runs`.
//
// Contract: names are unique without regard to case, as SQL requires: if two names differ only in case, the later one
// gets "~2" appended. Order: run, status, error; axes; metrics; the other keys of an experiment; provenance;
// `configuration` last, because it is long. Keys of open tables get a column with the first row that has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/settings/metrics.hpp"

namespace rayreplay::sweep {

enum class Role { Axis, Metric, Key, About };
enum class ColumnType { Truth, Whole, Real, Text, Any };

struct ResultColumn {
  std::string name;
  Role role = Role::About;
  ColumnType type = ColumnType::Any;
  std::string unit;
  std::string text;
  experiment::Goal goal = experiment::Goal::None;
  bool operator==(const ResultColumn&) const = default;
};

[[nodiscard]] const char* to_string(Role role);              ///< "axis", "metric", "key", "about"
[[nodiscard]] const char* to_string(ColumnType type);        ///< "truth", "whole", "real", "text", "any"
[[nodiscard]] const char* to_string(experiment::Goal goal);  ///< "less", "more", ""
/// The inverse functions; false for an unknown name.
[[nodiscard]] bool from_string(std::string_view name, Role& role);
[[nodiscard]] bool from_string(std::string_view name, ColumnType& type);
[[nodiscard]] bool from_string(std::string_view name, experiment::Goal& goal);

/// The columns of a sweep over `axes`.
[[nodiscard]] std::vector<ResultColumn> result_columns(const std::vector<std::string>& axes);
/// The column of one experiment key: declared, of an open table, or "KEY:PARAM".
[[nodiscard]] ResultColumn key_column(const std::string& key, Role role);
[[nodiscard]] std::string sql_type(ColumnType type);
/// Case-insensitive, as SQLite compares names.
[[nodiscard]] std::string folded(std::string_view name);

}  // namespace rayreplay::sweep
