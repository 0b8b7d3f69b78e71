// Whether a device's doubles can be made to equal the processor's.
//
// Contract: kernels that compute with doubles use +, −, ×, comparisons on `precise` variables, and exact.glsl for the
// rest; the results are then the processor's bit for bit, subnormals included, as long as nothing is infinite or no
// number (exact.glsl: then, too). `doubles_are_exact` runs some ten thousand cases of each on the device, among them
// those that are hardest to round, and compares them with the processor's; the answer is kept for the device's name,
// uuid and driver. A few milliseconds, the first time. `require_exact_doubles` throws Unsupported where they are not,
// or where the device has no doubles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] bool doubles_are_exact(Device& device);
void require_exact_doubles(Device& device);

/// Bits of pairs of operands, the same every time: random ones of all magnitudes, quotients and roots that lie next to
/// a tie, subnormals, infinities and NaNs.
[[nodiscard]] std::vector<std::uint64_t> arithmetic_cases();

/// Of those cases, the first operation whose result on the device differs from the processor's; empty: none.
[[nodiscard]] std::string differing_arithmetic(Device& device);

}  // namespace rayreplay::kernels
