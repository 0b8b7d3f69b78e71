// Which launches are captured: what the options say of a launch, and what they may say of one that is not submitted
// yet.
#pragma once

#include <cstdint>

namespace rayreplay::layer {

struct Device;

/// Whether the trigger file is there, if one is asked for.
[[nodiscard]] bool triggered();

/// Whether a launch is among those to capture.
[[nodiscard]] bool chosen(std::uint32_t frame, std::uint32_t number, bool triggered);

/// Whether a launch that is written into a command buffer now may be chosen when it is submitted. `once`: the buffer is
/// submitted at most once, so soon. False for launches of the far future, which is a guess: a launch that is chosen all
/// the same is noted by its submission.
[[nodiscard]] bool may_be_chosen(const Device& device, bool once);

}  // namespace rayreplay::layer
