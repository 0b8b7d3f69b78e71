// The launch order as the device ran it: each thread's captured warp and lane.
//
// Contract: warps are numbered by their lowest thread id, which is row-major for warps that are rectangles of pixels;
// start_rank is the rank of the captured warp id. Captures do not hold launch tiles: `tile` is that of the pixel of the
// warp's lowest thread, with the sizes of the z-order model under auto (observed_tiles.hpp); empty tiles get no number.
// Errors: Missing when the launch has no captured warps; Usage when the warp size is too small for the captured lanes;
// Input when a thread has no warp or two threads share a lane. O(places + warps · log warps).
#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/observed_tiles.hpp"
#include "scheduler-models/sort_threads.hpp"
#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::scheduler {
namespace {

void require_captured(const trace::Launch& launch) {
  if (launch.thread_warp.size() != launch.size.threads() || launch.thread_lane.size() != launch.size.threads()) {
    throw Error(
        ErrorKind::Missing,
        {"the trace has no captured warps", "thread_warp", fmt::format("{} rows", launch.thread_warp.size()),
         fmt::format("one per thread: {}", launch.size.threads()),
         "record the application with the capture layer on a device that reports subgroups, or use a model such "
         "as z-order"});
  }
}

/// Threads in order of captured warp, then thread id.
ThreadList threads_by_warp(const trace::Launch& launch) {
  ThreadList threads(launch.thread_warp.size());
  std::iota(threads.begin(), threads.end(), 0U);
  sort_by_key(threads, trace::Column<std::uint64_t>(launch.thread_warp.begin(), launch.thread_warp.end()));
  return threads;
}

struct CapturedWarp {
  std::size_t begin;  ///< in the list of threads by warp
  std::size_t end;
  std::uint32_t start_rank;
};

std::vector<CapturedWarp> warps_of(const trace::Launch& launch, const ThreadList& threads) {
  std::vector<CapturedWarp> warps;
  for (std::size_t begin = 0; begin < threads.size();) {
    const std::uint32_t warp = launch.thread_warp[threads[begin]];
    std::size_t end = begin;
    while (end < threads.size() && launch.thread_warp[threads[end]] == warp) {
      ++end;
    }
    warps.push_back({begin, end, static_cast<std::uint32_t>(warps.size())});
    begin = end;
  }
  std::sort(warps.begin(), warps.end(),
            [&threads](const CapturedWarp& a, const CapturedWarp& b) { return threads[a.begin] < threads[b.begin]; });
  return warps;
}

/// Renumbers without gaps, keeping the order.
void close_gaps(trace::Column<std::uint32_t>& numbers) {
  trace::Column<std::uint32_t> used = numbers;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (std::uint32_t& number : numbers) {
    number = static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), number) - used.begin());
  }
}

class Captured final : public LaunchOrder {
 public:
  explicit Captured(const Parameters& parameters) : tile_(parse_extent(parameters.get_string("tile"), "tile")) {}

  [[nodiscard]] WarpAssignment assign(const trace::Launch& launch, std::uint32_t warp_size) const override {
    require_captured(launch);
    // Checks the warp size and the number of threads.
    (void)make_warp_grid(launch.size, warp_size, {warp_size, 1});
    const ThreadList threads = threads_by_warp(launch);
    const std::vector<CapturedWarp> warps = warps_of(launch, threads);
    const Extent tile = tile_.value_or(observed_z_order(launch.size.width, launch.size.height).tile);
    WarpAssignment result;
    result.warp_size = warp_size;
    result.thread_at.assign(warps.size() * warp_size, kNoThread);
    for (std::size_t warp = 0; warp < warps.size(); ++warp) {
      for (std::size_t i = warps[warp].begin; i < warps[warp].end; ++i) {
        stand(launch, threads[i], warp, result);
      }
      result.start_rank.push_back(warps[warp].start_rank);
      result.tile.push_back(tile_of(threads[warps[warp].begin], launch.size, tile));
    }
    close_gaps(result.tile);
    return result;
  }

 private:
  static void stand(const trace::Launch& launch, std::uint32_t thread, std::size_t warp, WarpAssignment& result) {
    const std::uint32_t lane = launch.thread_lane[thread];
    if (launch.thread_warp[thread] == trace::kNone) {
      throw Error(ErrorKind::Input, {"a thread has no captured warp", fmt::format("thread_warp[{}]", thread), "none",
                                     "a warp for each thread", "capture the trace again"});
    }
    if (lane >= result.warp_size) {
      throw Error(ErrorKind::Usage,
                  {"the warp size is too small for the captured warps", fmt::format("thread_lane[{}]", thread),
                   fmt::format("lane {}", lane), fmt::format("less than {}, the warp size", result.warp_size),
                   "give the warp size of the captured device"});
    }
    std::uint32_t& at = result.thread_at[warp * result.warp_size + lane];
    if (at != kNoThread) {
      throw Error(ErrorKind::Input,
                  {"two threads share a lane", fmt::format("thread_lane[{}]", thread),
                   fmt::format("warp {}, lane {}, also of thread {}", launch.thread_warp[thread], lane, at),
                   "one thread in each lane", "capture the trace again"});
    }
    at = thread;
  }

  [[nodiscard]] static std::uint32_t tile_of(std::uint32_t thread, trace::LaunchSize size, Extent tile) {
    const std::uint32_t x = thread % size.width;
    const std::uint32_t y = thread / size.width % size.height;
    const std::uint32_t z = thread / size.width / size.height;
    return (z * parts(size.height, tile.height) + y / tile.height) * parts(size.width, tile.width) + x / tile.width;
  }

  std::optional<Extent> tile_;
};

const LaunchOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "captured",
     .summary = "Warps and their order as the device ran them",
     .text = "Each thread stands in the warp and lane that were captured with the trace; warps start in the order of "
             "their captured ids. A captured launch's own order always wins over a model of it. Tiles, which a capture "
             "does not show, are those of z-order unless set.",
     .source = "rayreplay",
     .parameters = {declare::text(
         "tile", "auto", "pixels",
         "Size of a launch tile for the tiled packings, WIDTHxHEIGHT, or auto: by launch size.")}},
    [](const Parameters& parameters) { return std::make_unique<Captured>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
