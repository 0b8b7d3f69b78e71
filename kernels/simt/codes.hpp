// The calls of a launch's events on a device: which occur, and all of them as codes.
//
// Contract: a table's entry for (shader, kind) is shader << 4 | kind. The codes of a launch stay on the device, one
// column per table (LaunchOnDevice): a byte an event where all codes are below 255, else two; all ones for events that
// are no calls. The kind and shader columns stay there too if they fit, else they pass through in pieces. Requires a
// sound launch whose shader ids are below `shaders`. O(events) the first time, and one upload of 3 bytes an event.
// Errors: DeviceError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/launch_on_device.hpp"
#include "kernels/simt/layout.h"

namespace rayreplay::kernels::simt {

inline constexpr unsigned kKindBits = 4;
inline constexpr std::uint16_t kNoCall = RR_SIMT_NO_CALL;

/// By table entry: nonzero where the launch has such an event. Waits for the stream.
[[nodiscard]] std::vector<std::uint8_t> find_pairs(LaunchOnDevice& launch, Device& device, Stream& stream,
                                                   std::size_t shaders);

struct Codes {
  std::uint64_t address = 0;  ///< of the column, which the LaunchOnDevice holds
  std::uint32_t bytes = 0;    ///< of a code
};

/// `code_of`: by table entry, kNoCall where it is no call.
[[nodiscard]] Codes encode(LaunchOnDevice& launch, Device& device, Stream& stream,
                           std::span<const std::uint16_t> code_of);

}  // namespace rayreplay::kernels::simt
