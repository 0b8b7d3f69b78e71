// Whether a device computes as the kernels of the traversal need it.
//
// Contract: compares a few thousand sums, products, conversions, minima and quotients, hard ones among them, with the
// processor's. Throws DeviceError (Unsupported) that names the first kind that differs. Results that a device may flush
// to zero, because they or their operands are denormal, are not compared. A few milliseconds.
#pragma once

#include "kernels/device/device.hpp"

namespace rayreplay::kernels::traversal {

void require_exact_numbers(Device& device);

}  // namespace rayreplay::kernels::traversal
