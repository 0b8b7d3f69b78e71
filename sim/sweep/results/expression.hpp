// What users write after --where, as SQL.
//
// Contract: a condition over columns as SQLite reads it, in which column names with dots and colons need no quotes
// (cache.l1.bytes >= 65536), && and || may stand for AND and OR, and a text may stand between double quotes as in the
// conditions of a sweep file. Words that are neither a column nor SQL are Usage errors that name the nearest column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/results/columns.hpp"

namespace rayreplay::sweep {

[[nodiscard]] std::string where_to_sql(std::string_view text, const std::vector<ResultColumn>& columns);

/// A whole statement: only names with a dot or colon that are columns get their quotes.
[[nodiscard]] std::string quote_columns(std::string_view sql, const std::vector<ResultColumn>& columns);

}  // namespace rayreplay::sweep
