// Shaders that may write images, from their SPIR-V.
//
// Contract: by shader, 1 if its module has a write to an image (OpImageWrite), else 0; 0 also without SPIR-V. Modules
// are untrusted: none makes it throw. Linear in the words.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::machine {

[[nodiscard]] std::vector<std::uint8_t> image_writers(const trace::Trace& trace);

}  // namespace rayreplay::machine
