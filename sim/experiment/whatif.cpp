#include "sim/experiment/whatif.hpp"

#include <tbb/parallel_for.h>

#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/swizzle_file.hpp"

namespace rayreplay::experiment {
namespace {

const std::string kFilePrefix = "file:";

double relative_change(double value, double baseline) {
  return baseline > 0 ? value / baseline - 1 : 0;
}

/// No assignment makes fewer than ceil(calls / S) warp events of one call, and each costs what its shader costs.
double weighted_bound(const simt::ReplayResult& replay, const std::vector<std::uint32_t>& costs) {
  simt::Tally sum;
  for (const simt::CallTally& call : replay.by_call) {
    const std::uint64_t cost = costs.empty() ? 1 : costs[call.shader];
    const std::uint64_t calls = call.tally.active_lanes;
    sum.weighted_events += cost * ((calls + replay.warp_size - 1) / replay.warp_size);
    sum.weighted_lanes += cost * calls;
  }
  return sum.weighted_efficiency(replay.warp_size);
}

class RowMaker {
 public:
  RowMaker(const trace::Trace& trace, const Resolved& configuration, const scheduler::WarpAssignment& order,
           bool pixel_maps)
      : trace_(trace), configuration_(configuration), order_(order), pixel_maps_(pixel_maps) {}

  [[nodiscard]] WhatIfRow operator()(const std::string& packing) const {
    const trace::Launch& launch = trace_.launches[configuration_.launch];
    simt::ReplayOptions options;
    options.policy = configuration_.policy;
    options.shader_cost = configuration_.costs;
    options.per_thread = pixel_maps_;
    WhatIfRow row;
    row.packing = packing;
    row.replay = simt::replay(launch, trace_.shaders, pack(launch, order_, packing), options);
    row.efficiency = row.replay.total.efficiency(configuration_.warp_size);
    row.weighted_efficiency =
        configuration_.costs.empty() ? row.efficiency : row.replay.total.weighted_efficiency(configuration_.warp_size);
    if (pixel_maps_) {
      row.efficiency_map = efficiency_map(launch.size, row.replay.by_thread, configuration_.warp_size);
      row.replay.by_thread = {};
    }
    return row;
  }

 private:
  const trace::Trace& trace_;
  const Resolved& configuration_;
  const scheduler::WarpAssignment& order_;
  bool pixel_maps_;
};

}  // namespace

scheduler::WarpAssignment pack(const trace::Launch& launch, const scheduler::WarpAssignment& order,
                               const std::string& packing) {
  const scheduler::Swizzle swizzle = packing.starts_with(kFilePrefix)
                                         ? scheduler::read_swizzle(packing.substr(kFilePrefix.size()), launch.size)
                                         : scheduler::Packings::create(packing).model->compute(launch, order);
  return scheduler::apply(order, swizzle);
}

WhatIfResult what_if(const trace::Trace& trace, const Resolved& configuration, const WhatIfOptions& options) {
  const trace::Launch& launch = trace.launches.at(configuration.launch);
  WhatIfResult result;
  result.configuration = configuration;
  result.trace_hash = trace.hash;
  result.tool_version = RAYREPLAY_VERSION;
  result.size = launch.size;
  result.rays = launch.data.rays.size();
  result.events = launch.data.events.size();

  const scheduler::WarpAssignment order =
      scheduler::LaunchOrders::create(configuration.order).model->assign(launch, configuration.warp_size);
  result.warps = order.warps();
  result.bound = scheduler::lower_bound(launch, configuration.warp_size);

  std::vector<std::string> packings = configuration.packings;
  for (const std::string& file : configuration.swizzles) {
    packings.push_back(kFilePrefix + file);
  }
  if (options.progress != nullptr) {
    options.progress->start("packings", packings.size());
  }
  result.rows.resize(packings.size());
  const RowMaker make_row(trace, configuration, order, options.pixel_maps);
  tbb::parallel_for(std::size_t{0}, packings.size(), [&](std::size_t i) {
    result.rows[i] = make_row(packings[i]);
    if (options.progress != nullptr) {
      options.progress->advance(1);
    }
  });
  for (WhatIfRow& row : result.rows) {
    row.change = relative_change(row.efficiency, result.rows.front().efficiency);
    row.weighted_change = relative_change(row.weighted_efficiency, result.rows.front().weighted_efficiency);
  }
  result.weighted_bound = weighted_bound(result.rows.front().replay, configuration.costs);
  if (options.pixel_maps) {
    result.maps.counts = count_pixels(launch);
    result.maps.order = order_map(launch.size, order);
  }
  if (options.progress != nullptr) {
    options.progress->finish();
  }
  return result;
}

}  // namespace rayreplay::experiment
