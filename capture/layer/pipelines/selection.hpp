// Which launches are captured: the decision for a submitted launch, and the guess for one that is not submitted yet.
#pragma once

#include <cstdint>

namespace rayreplay::layer {

struct Device;

/// Whether the trigger file is there, if one is asked for.
[[nodiscard]] bool triggered();

/// Whether a launch is among those to capture.
[[nodiscard]] bool chosen(std::uint32_t frame, std::uint32_t number, bool triggered);

/// Whether a launch that is written into a command buffer now may be chosen when it is submitted. `once`: the buffer is
/// submitted at most once, so soon. False for launches of the far future. This is a guess; if such a launch is chosen
/// nevertheless, its submission notes that.
[[nodiscard]] bool may_be_chosen(const Device& device, bool once);

}  // namespace rayreplay::layer
