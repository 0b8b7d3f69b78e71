// Tables of `rayreplay profile` about branches and loads.
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
