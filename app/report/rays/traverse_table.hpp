// The tables of `rayreplay traverse`: a row for the trace's observations and one for each traversal.
//
// Contract: counts and bytes are means per ray. `agreement` is the share of the compared rays whose end agrees with the
// trace's. `model` is a traversal as requested, `traversal` its resolved spec. JSON and CSV have every column; unknown
// cells are empty. Text has two tables: rays, and warps. Independent of time and machine. Keys are listed in
// docs/surfaces.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/report/export/table.hpp"
#include "sim/rays/traverse.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table traverse_table(const experiment::TraverseResult& result, std::uint32_t warp_size);
[[nodiscard]] std::string traverse_text(const experiment::TraverseResult& result, std::uint32_t warp_size);
/// Structure and packing, for a Context.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> traverse_context(
    const experiment::TraverseResult& result);

}  // namespace rayreplay::report
