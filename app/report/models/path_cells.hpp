// Cells of SIMT efficiency by instruction, from paths of calls (capture/profile/path_efficiency.hpp).
//
// Contract: the columns are `path_efficiency`, and `path_share`, the share of active lanes that the efficiency counts.
// Tables for people show the share unless it is 100 % in all rows. Tables have the columns where the trace has paths. A
// cell without paths is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/export/table.hpp"
#include "capture/profile/path_efficiency.hpp"

namespace rayreplay::report {

/// `all`: every tally with cells in these columns.
[[nodiscard]] std::vector<output::Column> path_columns(const std::vector<profile::PathTally>& all);

/// A cell for each column of path_columns.
[[nodiscard]] std::vector<output::Cell> path_cells(const profile::PathTally& tally, std::uint32_t warp_size);

/// "\nby path: …", for below a table with these columns; "" if `any` is false: without them.
[[nodiscard]] std::string path_note(bool any);

}  // namespace rayreplay::report
