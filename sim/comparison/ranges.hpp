// How far off a quantity may be, by what it is and how it is known: the one table.
//
// Contract: a pure function. docs/assumptions.md has the table with its reasons. Published, measured and given numbers
// have no range. Neither has the size of the machine: it is chosen.
#pragma once

#include "sim/comparison/quantities.hpp"

namespace rayreplay::experiment {

/// Sets `low`, `high` and `ends_only`.
void set_range(Quantity& quantity);

}  // namespace rayreplay::experiment
