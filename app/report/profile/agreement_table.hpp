// Tables of `rayreplay profile` about branches and loads.
//
// Contract: keys of the columns are those of JSON and CSV (docs/surfaces.md). Rows come in the order of the profile. A
// value that is not known is an empty cell. O(rows).
#pragma once

#include "app/report/export/table.hpp"
#include "capture/profile/agreement_profile.hpp"

namespace rayreplay::report {

/// A row for the branches, the loaded values and the load addresses of each shader of each pipeline.
[[nodiscard]] output::Table agreement_table(const trace::Profile& trace, const profile::AgreementProfile& profile);

/// A row for each branch, or each load. `rows`: of `profile`.
[[nodiscard]] output::Table instruction_table(const trace::Profile& trace,
                                              const std::vector<profile::InstructionProfile>& rows, bool branches);

}  // namespace rayreplay::report
