// A sweep on one HTML page: summary, best configurations, sensitivity, plots, failures, provenance.
//
// Contract: one HTML file without scripts and external resources; the same database gives the same bytes. The page's
// metric is `asked`; "": the sweep's objective, else the first metric with a goal that varies. Empty sections are left
// out.
#pragma once

#include <string>

#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string sweep_page(const sweep::ResultsReader& reader, const std::string& asked,
                                     const std::string& where);

}  // namespace rayreplay::report
