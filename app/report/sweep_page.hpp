// A sweep on one page: what it is, the best, which parameter moves what, pictures, failures, where it comes from.
//
// Contract: one HTML file without scripts and external resources; the same database, the same bytes. It is about one
// metric, `asked`; "": the sweep's objective, else the first metric with a goal that varies. Sections for which there
// is nothing are left out.
#pragma once

#include <string>

#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string sweep_page(const sweep::ResultsReader& reader, const std::string& asked,
                                     const std::string& where);

}  // namespace rayreplay::report
