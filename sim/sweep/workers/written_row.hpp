// A row in the form of the table: with paths as the sweep names them, independent of the current folder.
#pragma once

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

/// Rewrites axis values, settings, the configuration's text and the places in an error. Call once a row.
void as_written(const Plan& plan, ResultRow& row);

}  // namespace rayreplay::sweep
