// Whether a device's doubles can equal the processor's.
//
// Contract: kernels with doubles use +, −, ×, comparisons on `precise` variables, and exact.glsl for the rest; results
// then equal the processor's bit for bit, subnormals included (in +, −, × only finite values). `doubles_are_exact` runs
// some ten thousand cases of each operation on the device, among them the hardest to round, and compares; the answer is
// cached by the device's name, uuid and driver. A few milliseconds, the first time. `require_exact_doubles` throws
// Unsupported where doubles differ or are missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] bool doubles_are_exact(Device& device);
void require_exact_doubles(Device& device);

/// Bits of operand pairs, the same in every call: random of all magnitudes, quotients and roots next to a tie,
/// subnormals, infinities and NaNs.
[[nodiscard]] std::vector<std::uint64_t> arithmetic_cases();

/// The first operation whose result differs from the processor's; empty: none.
[[nodiscard]] std::string differing_arithmetic(Device& device);

}  // namespace rayreplay::kernels
