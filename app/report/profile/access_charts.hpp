// Charts of accesses to buffers and images, and the sentence above them.
//
// Contract: a transaction is a 32-byte sector of a warp instruction. The chart of sites shows the kMostBars sites with
// most transactions; the histogram has all warp instructions whose lines are known. Empty without transactions.
#pragma once

#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/profile/access_table.hpp"

namespace rayreplay::report {

/// "Shader 3 camera, load of scene.vertices[], carries 41.0 % of 1,200 transactions; …", or the reason for having none.
[[nodiscard]] std::string access_verdict(const std::vector<trace::Shader>& shaders, const trace::AccessSites& sites,
                                         const AccessDetails& details);

[[nodiscard]] std::vector<pictures::Chart> access_charts(const trace::AccessSites& sites, const AccessDetails& details);

/// Warp instructions of each site by the lines that they touched: a row for each range that is not empty.
[[nodiscard]] output::Table line_table(const trace::AccessSites& sites, const AccessDetails& details);

}  // namespace rayreplay::report
