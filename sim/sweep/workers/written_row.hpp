// A row as the table has it: paths as the sweep names them, wherever it was called from.
#pragma once

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

/// Axis values, settings, the configuration's text and the places in an error. Once a row.
void as_written(const Plan& plan, ResultRow& row);

}  // namespace rayreplay::sweep
