// The table of guards of `rayreplay profile --rows guards`: a row for each guard of each shader in each pipeline.
//
// Contract: docs/surfaces.md lists the keys.
#pragma once

#include <span>

#include "app/report/export/table.hpp"
#include "capture/profile/guard_profile.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table guard_table(const trace::Profile& trace, std::span<const profile::GuardProfile> guards);

}  // namespace rayreplay::report
