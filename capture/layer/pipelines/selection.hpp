// The choice of captured launches: the decision at submission, and a prediction at recording.
#pragma once

#include <cstdint>

namespace rayreplay::layer {

struct Device;

/// Whether the trigger file is there, if one is asked for.
[[nodiscard]] bool triggered();

/// Whether a launch is among those to capture.
[[nodiscard]] bool chosen(std::uint32_t frame, std::uint32_t number, bool triggered);

/// Prediction at recording whether a launch may be chosen at submission. `once`: the buffer is submitted at most once,
/// so soon. False for launches far ahead. If such a launch is chosen nevertheless, its submission notes that.
[[nodiscard]] bool may_be_chosen(const Device& device, bool once);

}  // namespace rayreplay::layer
