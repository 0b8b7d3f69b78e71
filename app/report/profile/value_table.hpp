// The table of loaded values of `rayreplay profile`: for each place its most frequent values, and the rest.
//
// Contract: rows of a place come together, in the order of `places`: its first `top` values by falling number of
// executions, then a row without rank for all other executions, if there are any. A place that never ran has one row,
// without value. docs/surfaces.md lists the keys. O(rows log rows).
#pragma once

#include <span>

#include "app/report/export/table.hpp"
#include "capture/profile/value_profile.hpp"

namespace rayreplay::report {

/// `uniform`: values are ranked by groups whose lanes all had the value; else by lanes.
[[nodiscard]] output::Table value_table(const trace::Profile& trace, std::span<const profile::ValuePlace> places,
                                        std::uint32_t top, bool uniform);

}  // namespace rayreplay::report
