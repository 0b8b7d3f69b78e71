// Cells of SIMT efficiency by instruction, from paths of calls (capture/profile/path_efficiency.hpp).
//
// Contract: the columns are `path_efficiency`, and `path_share`, the share of active lanes that it counts; tables show
// the share where it is not the whole. Tables have them where the trace has paths. A cell without paths is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/export/table.hpp"
#include "capture/profile/path_efficiency.hpp"

namespace rayreplay::report {

/// `all`: of the tallies whose cells the columns take.
[[nodiscard]] std::vector<output::Column> path_columns(const std::vector<profile::PathTally>& all);

/// As many as path_columns.
[[nodiscard]] std::vector<output::Cell> path_cells(const profile::PathTally& tally, std::uint32_t warp_size);

/// "\nby path: …", for below a table with these columns; "" if `any` is false.
[[nodiscard]] std::string path_note(bool any);

}  // namespace rayreplay::report
