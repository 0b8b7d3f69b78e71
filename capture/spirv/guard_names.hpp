// Names of the blocks behind a guard that a rewritten module has (optimise/guarded_copy.hpp).
//
// The label of the block that runs where the guard holds has an OpName that starts with kGuardHeld, the one that runs
// where it fails one with kGuardFailed; the guard's text follows. Counts of these blocks count the guard.
#pragma once

#include <string_view>

namespace rayreplay::spirv {

inline constexpr std::string_view kGuardHeld = "rayreplay guard held: ";
inline constexpr std::string_view kGuardFailed = "rayreplay guard failed: ";

}  // namespace rayreplay::spirv
