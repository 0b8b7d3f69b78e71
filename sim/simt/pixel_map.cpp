#include "sim/simt/pixel_map.hpp"

#include <cstddef>
#include <limits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::experiment {
namespace {

PixelMap empty_map(trace::LaunchSize size) {
  return {size.width, size.height,
          std::vector<float>(std::size_t{size.width} * size.height, std::numeric_limits<float>::quiet_NaN())};
}

/// Calls fill(pixel) for every pixel, in parallel over rows.
template <class Fill>
void for_each_pixel(trace::LaunchSize size, const Fill& fill) {
  tbb::parallel_for(tbb::blocked_range<std::uint32_t>(0, size.height), [&](const auto& rows) {
    for (std::size_t pixel = std::size_t{rows.begin()} * size.width; pixel < std::size_t{rows.end()} * size.width;
         ++pixel) {
      fill(pixel);
    }
  });
}

PixelCounts count_on_processor(const trace::Launch& launch) {
  const trace::LaunchSize size = launch.size;
  const std::size_t pixels = std::size_t{size.width} * size.height;
  PixelCounts counts{empty_map(size), empty_map(size), empty_map(size)};
  for_each_pixel(size, [&](std::size_t pixel) {
    std::uint64_t rays = 0, intersections = 0, any_hits = 0;
    for (std::size_t slice = 0; slice < size.depth; ++slice) {
      const std::size_t thread = slice * pixels + pixel;
      for (std::uint64_t row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
        const trace::EventKind kind = launch.data.events.kind[row];
        rays += trace::begins_ray(kind) ? 1U : 0U;
        intersections += kind == trace::EventKind::Intersection ? 1U : 0U;
        any_hits += kind == trace::EventKind::AnyHit ? 1U : 0U;
      }
    }
    counts.rays.values[pixel] = static_cast<float>(rays);
    counts.intersections.values[pixel] = static_cast<float>(intersections);
    counts.any_hits.values[pixel] = static_cast<float>(any_hits);
  });
  return counts;
}

using Tallies = std::vector<simt::Tally>;

Tallies add_slices_on_processor(trace::LaunchSize size, const Tallies& by_thread) {
  Tallies sums(std::size_t{size.width} * size.height);
  for_each_pixel(size, [&](std::size_t pixel) {
    for (std::size_t slice = 0; slice < size.depth; ++slice) {
      sums[pixel] += by_thread[slice * sums.size() + pixel];
    }
  });
  return sums;
}

}  // namespace

PixelCounts count_pixels(const trace::Launch& launch, trace::AcceleratedLaunch* accelerated) {
  return count_pixels_twin.run(
      accelerator_of(accelerated), [&] { return count_on_processor(launch); }, accelerated);
}

PixelMap efficiency_map(trace::LaunchSize size, const Tallies& by_thread, std::uint32_t warp_size,
                        Accelerator* accelerator) {
  Tallies sums;
  if (size.depth != 1) {
    sums = add_slices_twin.run(
        accelerator, [&] { return add_slices_on_processor(size, by_thread); }, size, by_thread);
  }
  const Tallies& by_pixel = size.depth == 1 ? by_thread : sums;
  PixelMap map = empty_map(size);
  for_each_pixel(size, [&](std::size_t pixel) {
    const simt::Tally& tally = by_pixel[pixel];
    if (tally.warp_events > 0) {
      map.values[pixel] = static_cast<float>(100 * tally.efficiency(warp_size));
    }
  });
  return map;
}

PixelMap order_map(trace::LaunchSize size, const scheduler::WarpAssignment& assignment) {
  const std::size_t pixels = std::size_t{size.width} * size.height;
  PixelMap map = empty_map(size);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, assignment.thread_at.size()), [&](const auto& places) {
    for (std::size_t place = places.begin(); place < places.end(); ++place) {
      const std::uint32_t thread = assignment.thread_at[place];
      if (thread < pixels) {  // kNoThread is above all pixels
        map.values[thread] = static_cast<float>(assignment.start_rank[place / assignment.warp_size]);
      }
    }
  });
  return map;
}

}  // namespace rayreplay::experiment
