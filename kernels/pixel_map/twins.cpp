// Sums per pixel of sim/simt/pixel_map.hpp on a device.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/launch_on_device.hpp"
#include "kernels/reduction/pixel_sums.hpp"
#include "kernels/twins.hpp"
#include "sim/simt/pixel_map.hpp"

namespace rayreplay::kernels {
namespace {

using experiment::PixelCounts;
using experiment::PixelMap;
using trace::EventKind;
using Tallies = std::vector<simt::Tally>;

constexpr std::uint32_t bit(EventKind kind) {
  return std::uint32_t{1} << static_cast<unsigned>(kind);
}

PixelCounts count_pixels(Device& device, trace::AcceleratedLaunch* accelerated) {
  const trace::Launch& launch = accelerated->launch();
  if (launch.data.events.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw NoKernel{"a pixel may have 2^32 events"};
  }
  const trace::LaunchSize size = launch.size;
  const std::size_t pixels = std::size_t{size.width} * size.height;
  constexpr std::array kColumns{bit(EventKind::Begin) | bit(EventKind::OcclusionBegin), bit(EventKind::Intersection),
                                bit(EventKind::AnyHit)};
  LaunchOnDevice& there = on_devices(*accelerated);
  Stream stream(device);
  const Buffer& kinds = there.column(device, stream, launch.data.events.kind);
  const Buffer& offsets = there.column(device, stream, launch.data.event_offset);
  const Buffer sums =
      count_pixel_events(device, stream, kinds, launch.data.events.size(), offsets, {pixels, size.depth}, kColumns);
  std::vector<std::uint32_t> found(pixels * kColumns.size());
  stream.download_array(sums, found);
  stream.wait();
  const auto map = [&](std::size_t column) {
    const std::uint32_t* const first = found.data() + column * pixels;
    PixelMap counts{size.width, size.height, std::vector<float>(pixels)};
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      counts.values[pixel] = static_cast<float>(first[pixel]);
    }
    return counts;
  };
  return {map(0), map(1), map(2)};
}

Tallies add_slices(Device& device, trace::LaunchSize size, const Tallies& by_thread) {
  constexpr std::size_t kWords = sizeof(simt::Tally) / sizeof(std::uint64_t);
  static_assert(sizeof(simt::Tally) == 4 * sizeof(std::uint64_t) && std::is_trivially_copyable_v<simt::Tally>);
  Tallies sums(std::size_t{size.width} * size.height);
  Stream stream(device);
  const Buffer values = device.allocate_array<simt::Tally>(by_thread.size(), "tallies of threads");
  stream.upload_array(values, by_thread);
  const Buffer found = sum_slices(device, stream, values, sums.size() * kWords, size.depth);
  stream.download_array(found, sums);
  stream.wait();
  return sums;
}

const decltype(experiment::count_pixels_twin)::Registrar kCountPixelsTwin(experiment::count_pixels_twin,
                                                                          {.run = first_device(count_pixels),
                                                                           .only_first = true});
const decltype(experiment::add_slices_twin)::Registrar kAddSlicesTwin(experiment::add_slices_twin,
                                                                      {.run = first_device(add_slices),
                                                                       .only_first = true});

}  // namespace
}  // namespace rayreplay::kernels
