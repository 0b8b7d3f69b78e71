#include "sim/experiment/whatif.hpp"

#include <optional>

#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/swizzle_file.hpp"

namespace rayreplay::experiment {
namespace {

/// What one row replays: a registered packing, or a user's own swizzle.
struct Candidate {
  std::string packing;
  std::optional<scheduler::Swizzle> swizzle;
};

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
           bool pixel_maps, trace::AcceleratedLaunch* on_device)
      : trace_(trace), configuration_(configuration), order_(order), pixel_maps_(pixel_maps), on_device_(on_device) {}

  [[nodiscard]] WhatIfRow operator()(const Candidate& candidate) const {
    const trace::Launch& launch = trace_.launches[configuration_.launch];
    simt::ReplayOptions options;
    options.policy = configuration_.policy;
    options.shader_cost = configuration_.costs;
    options.per_thread = pixel_maps_;
    options.on_device = on_device_;
    WhatIfRow row;
    row.packing = candidate.packing;
    row.replay = simt::replay(launch, trace_.shaders,
                              candidate.swizzle ? scheduler::apply(order_, *candidate.swizzle)
                                                : pack(launch, order_, candidate.packing, on_device_),
                              options);
    row.efficiency = row.replay.total.efficiency(configuration_.warp_size);
    row.weighted_efficiency =
        configuration_.costs.empty() ? row.efficiency : row.replay.total.weighted_efficiency(configuration_.warp_size);
    if (pixel_maps_) {
      row.efficiency_map = efficiency_map(launch.size, row.replay.by_thread, configuration_.warp_size,
                                          on_device_ == nullptr ? nullptr : &on_device_->accelerator());
      row.replay.by_thread = std::vector<simt::Tally>();  // `= {}` would keep the memory
    }
    return row;
  }

 private:
  const trace::Trace& trace_;
  const Resolved& configuration_;
  const scheduler::WarpAssignment& order_;
  bool pixel_maps_;
  trace::AcceleratedLaunch* on_device_;
};

std::vector<Candidate> make_candidates(const Resolved& configuration, trace::LaunchSize size) {
  std::vector<Candidate> candidates;
  for (const std::string& packing : configuration.packings) {
    candidates.push_back({packing, std::nullopt});
  }
  for (const std::string& file : configuration.swizzles) {
    candidates.push_back({"file:" + file, scheduler::read_swizzle(file, size)});
  }
  return candidates;
}

}  // namespace

scheduler::WarpAssignment pack(const trace::Launch& launch, const scheduler::WarpAssignment& order,
                               const std::string& packing, trace::AcceleratedLaunch* on_device) {
  return scheduler::apply(order, scheduler::Packings::create(packing).model->compute_on(launch, order, on_device));
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
  const std::vector<Candidate> candidates = make_candidates(configuration, launch.size);
  if (options.progress != nullptr) {
    options.progress->start("packings", candidates.size());
  }
  result.rows.resize(candidates.size());
  std::optional<trace::AcceleratedLaunch> on_device;
  if (options.accelerator != nullptr) {
    on_device.emplace(*options.accelerator, launch);
  }
  result.bound = scheduler::lower_bound(launch, configuration.warp_size, on_device ? &*on_device : nullptr);
  const RowMaker make_row(trace, configuration, order, options.pixel_maps, on_device ? &*on_device : nullptr);
  // One after another: a row needs several arrays of one entry per thread, and the work inside it is parallel already.
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    result.rows[i] = make_row(candidates[i]);
    if (options.progress != nullptr) {
      options.progress->advance(1);
    }
  }
  for (WhatIfRow& row : result.rows) {
    row.change = relative_change(row.efficiency, result.rows.front().efficiency);
    row.weighted_change = relative_change(row.weighted_efficiency, result.rows.front().weighted_efficiency);
  }
  result.weighted_bound = weighted_bound(result.rows.front().replay, configuration.costs);
  if (options.pixel_maps) {
    result.maps.counts = count_pixels(launch, on_device ? &*on_device : nullptr);
    result.maps.order = order_map(launch.size, order);
  }
  if (options.progress != nullptr) {
    options.progress->finish();
  }
  return result;
}

}  // namespace rayreplay::experiment
