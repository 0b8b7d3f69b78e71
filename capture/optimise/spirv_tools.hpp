// The SPIRV-Tools library: the validator, and those of its optimiser's passes that change no number.
//
// Contract: `fault_of` is the validator's first message for the Vulkan environment of the module's version; empty: the
// module is valid. `simplify` removes functions that nothing calls, branches on constants, code whose results nobody
// uses, and joins blocks; no pass folds floating-point expressions, whose results may differ in the last bit. Empty if
// a pass fails. Both take any words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/spirv/words.hpp"

namespace rayreplay::optimise {

using Words = std::vector<spirv::Word>;

[[nodiscard]] std::string fault_of(const Words& words);
[[nodiscard]] std::optional<Words> simplify(const Words& words);

}  // namespace rayreplay::optimise
