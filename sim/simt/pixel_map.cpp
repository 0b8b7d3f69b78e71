#include "sim/simt/pixel_map.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "kernels/accelerator.hpp"
#include "kernels/launch_on_device.hpp"
#include "kernels/reduction/pixel_sums.hpp"

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

constexpr std::uint32_t bit(trace::EventKind kind) {
  return std::uint32_t{1} << static_cast<unsigned>(kind);
}

PixelCounts count_on_device(const trace::Launch& launch, kernels::LaunchOnDevice& there, kernels::Device& device) {
  const trace::LaunchSize size = launch.size;
  const std::size_t pixels = std::size_t{size.width} * size.height;
  constexpr std::array kColumns{bit(trace::EventKind::Begin) | bit(trace::EventKind::OcclusionBegin),
                                bit(trace::EventKind::Intersection), bit(trace::EventKind::AnyHit)};
  kernels::Stream stream(device);
  const kernels::Buffer& kinds = there.column(device, stream, launch.data.events.kind);
  const kernels::Buffer& offsets = there.column(device, stream, launch.data.event_offset);
  const kernels::Buffer sums = kernels::count_pixel_events(device, stream, kinds, launch.data.events.size(), offsets,
                                                           {pixels, size.depth}, kColumns);
  std::vector<std::uint32_t> found(pixels * kColumns.size());
  stream.download_array(sums, found);
  stream.wait();
  PixelCounts counts{empty_map(size), empty_map(size), empty_map(size)};
  for_each_pixel(size, [&](std::size_t pixel) {
    counts.rays.values[pixel] = static_cast<float>(found[pixel]);
    counts.intersections.values[pixel] = static_cast<float>(found[pixels + pixel]);
    counts.any_hits.values[pixel] = static_cast<float>(found[2 * pixels + pixel]);
  });
  return counts;
}

using Tallies = std::vector<simt::Tally>;

/// `sum(pixel)`: over its slices.
template <class Sum>
PixelMap map_of(trace::LaunchSize size, std::uint32_t warp_size, const Sum& sum) {
  PixelMap map = empty_map(size);
  for_each_pixel(size, [&](std::size_t pixel) {
    const simt::Tally tally = sum(pixel);
    if (tally.warp_events > 0) {
      map.values[pixel] = static_cast<float>(100 * tally.efficiency(warp_size));
    }
  });
  return map;
}

Tallies sum_on_device(trace::LaunchSize size, const Tallies& by_thread, kernels::Device& device) {
  constexpr std::size_t kWords = sizeof(simt::Tally) / sizeof(std::uint64_t);
  static_assert(sizeof(simt::Tally) == 4 * sizeof(std::uint64_t) && std::is_trivially_copyable_v<simt::Tally>);
  Tallies sums(std::size_t{size.width} * size.height);
  kernels::Stream stream(device);
  const kernels::Buffer values = device.allocate_array<simt::Tally>(by_thread.size(), "tallies of threads");
  stream.upload_array(values, by_thread);
  const kernels::Buffer found = kernels::sum_slices(device, stream, values, sums.size() * kWords, size.depth);
  stream.download_array(found, sums);
  stream.wait();
  return sums;
}

}  // namespace

PixelCounts count_pixels(const trace::Launch& launch, kernels::LaunchOnDevice* device) {
  constexpr const char* kStage = "events per pixel";
  const auto on_cpu = [&] { return count_on_processor(launch); };
  if (device == nullptr) {
    return on_cpu();
  }
  if (launch.data.events.size() > std::numeric_limits<std::uint32_t>::max()) {
    device->accelerator().note_cpu(kStage, "a pixel may have 2^32 events");
    return on_cpu();
  }
  return device->accelerator().run_on_one(
      kStage, {}, [&](kernels::Device& one) { return count_on_device(launch, *device, one); }, on_cpu);
}

PixelMap efficiency_map(trace::LaunchSize size, const std::vector<simt::Tally>& by_thread, std::uint32_t warp_size,
                        kernels::Accelerator* accelerator) {
  const std::size_t pixels = std::size_t{size.width} * size.height;
  const auto on_cpu = [&] {
    return map_of(size, warp_size, [&](std::size_t pixel) {
      simt::Tally sum;
      for (std::size_t slice = 0; slice < size.depth; ++slice) {
        sum += by_thread[slice * pixels + pixel];
      }
      return sum;
    });
  };
  if (accelerator == nullptr || size.depth == 1) {  // a single slice is already the sum
    return on_cpu();
  }
  return accelerator->run_on_one(
      "efficiency per pixel", {},
      [&](kernels::Device& one) {
        const Tallies sums = sum_on_device(size, by_thread, one);
        return map_of(size, warp_size, [&](std::size_t pixel) { return sums[pixel]; });
      },
      on_cpu);
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
