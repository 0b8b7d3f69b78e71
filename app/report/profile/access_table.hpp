// The table of accesses to buffers and images of `rayreplay profile --rows memory`: a row for each recorded site.
//
// Contract: docs/surfaces.md lists the keys. Cells of sectors and lines are empty for images.
#pragma once

#include <vector>

#include "app/report/export/table.hpp"
#include "capture/profile/access_profile.hpp"

namespace rayreplay::report {

/// `accesses`: by row of the trace's sites.
[[nodiscard]] output::Table access_table(const trace::Trace& trace, const std::vector<profile::SiteAccesses>& accesses);

}  // namespace rayreplay::report
