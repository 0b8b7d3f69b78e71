// The answer of `rayreplay traverse`: one row for what the trace observed and one for each traversal.
//
// Contract: counts are means per ray, as are bytes; `agreement` is the share of the compared rays that end where the
// trace's did. `model` is a traversal as asked for, `traversal` its resolved spec. JSON and CSV hold every column; what
// a row cannot know is empty. Text is two tables: what rays do, and what warps do. Nothing here depends on time or on
// the machine. Keys are listed in docs/surfaces.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/output/table.hpp"
#include "sim/rays/traverse.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table traverse_table(const experiment::TraverseResult& result, std::uint32_t warp_size);
[[nodiscard]] std::string traverse_text(const experiment::TraverseResult& result, std::uint32_t warp_size);
/// Structure and packing, for a Context.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> traverse_context(
    const experiment::TraverseResult& result);

}  // namespace rayreplay::report
