// Translates the user's --where conditions to SQL.
//
// Contract: a condition over columns in SQLite's syntax, with three additions: column names with dots and colons need
// no quotes (cache.l1.bytes >= 65536), && and || stand for AND and OR, and double quotes may enclose a text, as in the
// conditions of a sweep file. A word that is neither a column nor SQL is a Usage error with the nearest column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/results/columns.hpp"

namespace rayreplay::sweep {

[[nodiscard]] std::string where_to_sql(std::string_view text, const std::vector<ResultColumn>& columns);

/// A whole statement: adds quotes only to column names with a dot or colon.
[[nodiscard]] std::string quote_columns(std::string_view sql, const std::vector<ResultColumn>& columns);

}  // namespace rayreplay::sweep
