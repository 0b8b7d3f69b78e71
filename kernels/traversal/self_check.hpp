// Check of a device's arithmetic for the traversal's kernels.
//
// Contract: compares a few thousand sums, products, conversions, minima and quotients, hard ones included, with the
// processor's. Throws DeviceError (Unsupported) with the first kind that differs. Results that a device may flush to
// zero (denormal results or operands) are not compared. A few milliseconds.
#pragma once

#include "kernels/device/device.hpp"

namespace rayreplay::kernels::traversal {

void require_exact_numbers(Device& device);

}  // namespace rayreplay::kernels::traversal
