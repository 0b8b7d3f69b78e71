// The table of paths of `rayreplay profile`: a row for each shader whose calls have paths.
//
// Contract: docs/surfaces.md lists the keys.
#pragma once

#include "app/report/export/table.hpp"
#include "capture/profile/path_profile.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table path_table(const trace::Profile& trace, const profile::PathProfile& paths);

}  // namespace rayreplay::report
