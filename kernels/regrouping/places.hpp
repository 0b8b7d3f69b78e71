// Places in reorder keys on the device: Morton codes of hit points, directions or origins.
//
// Contract: fills the lowest bits of keys equal to `scheduler::reorder_keys`, bit for bit: the device adds and
// multiplies doubles, kernels/arithmetic/exact.glsl divides; callers check `doubles_are_exact`. `find_box` reads all
// pending calls and waits for the device; `add_places` reads them again. The launch must have its rays. O(segments);
// one invocation per thread of the launch. Needs float64. Errors: DeviceError.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/launch_on_device.hpp"
#include "kernels/regrouping/segments.hpp"

namespace rayreplay::kernels {

enum class Place : std::uint8_t {
  Hit,  ///< hit point; for a miss the direction
  Ray,
};

/// Box of all finite points; inverted where there is none.
struct PlaceBox {
  std::array<double, 3> low, high;
  bool any_hit = false;  ///< one of the points is where a ray hit something
};

[[nodiscard]] PlaceBox find_box(Device& device, Stream& stream, LaunchOnDevice& launch,
                                const SegmentsOnDevice& segments, Place place);

/// `bits` an axis, left free in `keys` (u64 by segment).
void add_places(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments, Place place,
                std::uint32_t bits, const PlaceBox& box, const Buffer& keys);

}  // namespace rayreplay::kernels
