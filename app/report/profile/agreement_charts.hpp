// Charts of the measured uniformity of branches and loads.
//
// Contract: bars of shares of places in the code, and of executions by a group, at each level of agreement
// (capture/profile/agreement_profile.hpp), over all shaders and pipelines; and, for each subject that was counted, a
// chart of executions by shader, of the kMostBars shaders that executed it most. None without counts. O(sums · log
// sums).
#pragma once

#include <vector>

#include "app/report/charts/plot.hpp"
#include "capture/profile/agreement_profile.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

[[nodiscard]] std::vector<pictures::Chart> agreement_charts(const std::vector<trace::Shader>& shaders,
                                                            const profile::AgreementProfile& profile);

}  // namespace rayreplay::report
