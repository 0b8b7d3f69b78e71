// Checks models and machines that a sweep names, before any run.
//
// Contract: a value of a key with models (`packing`), of one of its parameters (`packing:seed`) or of `machine.name`
// must be possible in some configuration: by itself, or with other values that the sweep gives the same key. Of a
// continuous range both ends must be possible. Usage with the value's place, the known names and the nearest of them;
// Input for a machine's file that cannot be read. Values that are possible but do not go together are no errors here:
// their runs are rows with an error. O(values).
#pragma once

#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

void check_specs(const Definition& definition);

}  // namespace rayreplay::sweep
