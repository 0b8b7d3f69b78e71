// Places in reorder keys on the device: Morton codes of hit points, directions or origins.
//
// Contract: the lowest bits of keys as `scheduler::reorder_keys` makes them, bit for bit: doubles are added and
// multiplied as the device does and divided by kernels/arithmetic/exact.glsl, which is right where `doubles_are_exact`
// says so; callers ask. `find_box` goes over all pending calls and waits for the device; `add_places` goes over them
// again. The launch must have its rays. O(segments); an invocation takes one thread's. Needs float64. Errors:
// DeviceError.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/launch_on_device.hpp"
#include "kernels/regrouping/segments.hpp"

namespace rayreplay::kernels {

enum class Place : std::uint8_t {
  Hit,  ///< of a miss: its direction
  Ray,
};

/// Of all points that are finite; upside down where there is none.
struct PlaceBox {
  std::array<double, 3> low, high;
  bool any_hit = false;  ///< one of the points is where a ray hit something
};

[[nodiscard]] PlaceBox find_box(Device& device, Stream& stream, LaunchOnDevice& launch,
                                const SegmentsOnDevice& segments, Place place);

/// `bits` an axis, which `keys` (u64 by segment) has left free.
void add_places(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments, Place place,
                std::uint32_t bits, const PlaceBox& box, const Buffer& keys);

}  // namespace rayreplay::kernels
