// Sums per pixel on the device.
//
// Contract: a launch's threads are slices of `pixels` threads each, one slice after the other (trace.hpp); pixel p sums
// over the threads p, p + pixels, … . Integers: the same bits as the processor's. Does not wait. Errors: DeviceError.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

inline constexpr std::size_t kMaxEventColumns = 4;

struct ThreadSlices {
  std::uint64_t pixels = 0;
  std::uint32_t depth = 0;
};

/// Counts events: column c counts those whose kind k (below 32) has bit k set in columns[c]. `kinds`: a byte each
/// event; `offsets`: the threads' first events, one more than threads; all events of a pixel must be fewer than 2^32.
/// Returns 32-bit counts, column after column. Bytes moved: one an event, 8 a thread, 4 a pixel and column.
[[nodiscard]] Buffer count_pixel_events(Device& device, Stream& stream, const Buffer& kinds, std::uint64_t events,
                                        const Buffer& offsets, ThreadSlices slices,
                                        std::span<const std::uint32_t> columns);

/// Adds slices of `width` 64-bit words each, modulo 2^64. Bytes moved: 8 a word and sum.
[[nodiscard]] Buffer sum_slices(Device& device, Stream& stream, const Buffer& values, std::uint64_t width,
                                std::uint32_t depth);

}  // namespace rayreplay::kernels
