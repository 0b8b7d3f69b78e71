#include "sim/engine/stages/simt.hpp"

#include <string>
#include <utility>

#include "base/report_progress.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/swizzle_file.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/machine/path_tally.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kEventBytes = 4;

std::uint64_t estimated_bytes(const Experiment& experiment) {
  return experiment.launch().events * kEventBytes;
}

simt::ReplayResult replay_packed(Workbench& bench, const std::shared_ptr<const InputData>& data,
                                 const Resolved& resolved, const scheduler::WarpAssignment& packed,
                                 simt::ReplayOptions options) {
  options.policy = resolved.policy;
  options.shader_cost = resolved.costs;
  options.on_device = bench.on_device(data, resolved.launch);
  return simt::replay(data->trace.launches[resolved.launch], data->trace.shaders, packed, options);
}

/// The trace stays as long as what refers to it.
struct PathsOfInput {
  std::shared_ptr<const InputData> data;
  std::shared_ptr<const profile::EventPaths> paths;
};

profile::PathTallies tally_packed(const trace::Trace& trace, const Resolved& resolved,
                                  const scheduler::WarpAssignment& packed,
                                  const std::shared_ptr<const profile::EventPaths>& paths) {
  if (paths == nullptr) {
    return {};
  }
  const trace::Launch& launch = trace.launches[resolved.launch];
  static_assert(scheduler::kNoThread == scheduler::kNoSegment);
  return machine::tally_warps(launch, trace.shaders, launch.data.event_offset, packed.thread_at, packed.warp_size,
                              resolved.policy, *paths);
}

MetricSet metrics_of(const simt::ReplayResult& replay, bool costs, const scheduler::Bound& bound,
                     const profile::PathTally& by_path) {
  const double efficiency = replay.total.efficiency(replay.warp_size);
  MetricSet metrics;
  metrics.add("simt_efficiency", efficiency);
  metrics.add("simt_weighted_efficiency", costs ? replay.total.weighted_efficiency(replay.warp_size) : efficiency);
  metrics.add_count("simt_warp_events", replay.total.warp_events);
  metrics.add_count("simt_active_lanes", replay.total.active_lanes);
  metrics.add("simt_bound_efficiency", bound.efficiency);
  if (const auto path_efficiency = by_path.efficiency(replay.warp_size)) {
    metrics.add("simt_path_efficiency", *path_efficiency);
    metrics.add("simt_path_share", *by_path.known());
  }
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  const Experiment& experiment = *members.front();
  const auto data = input(bench, experiment);
  const Resolved resolved = resolved_of(*experiment.settings, data->trace, true);
  const auto least = bound(bench, experiment);
  const auto packed = assignment(bench, experiment);
  const Workbench::Working working(bench.kept(), estimated_bytes(experiment));
  std::vector<Made> made;
  const auto by_path = tally_packed(data->trace, resolved, *packed, event_paths(bench, experiment)).all();
  made.emplace_back(
      metrics_of(replay_packed(bench, data, resolved, *packed, {}), !resolved.costs.empty(), *least, by_path));
  return made;
}

double relative_change(double value, double baseline) {
  return baseline > 0 ? value / baseline - 1 : 0;
}

/// A call of c threads makes at least ceil(c / S) warp events, each at the cost of its shader.
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
  RowMaker(Workbench& bench, std::shared_ptr<const InputData> data, const Resolved& configuration, bool pixel_maps,
           std::shared_ptr<const profile::EventPaths> paths)
      : bench_(&bench),
        data_(std::move(data)),
        configuration_(&configuration),
        pixel_maps_(pixel_maps),
        paths_(std::move(paths)) {}

  [[nodiscard]] WhatIfRow operator()(std::string packing, const scheduler::WarpAssignment& packed) const {
    simt::ReplayOptions options;
    options.per_thread = pixel_maps_;
    WhatIfRow row;
    row.packing = std::move(packing);
    row.replay = replay_packed(*bench_, data_, *configuration_, packed, options);
    const std::uint32_t warp_size = configuration_->warp_size;
    row.efficiency = row.replay.total.efficiency(warp_size);
    row.weighted_efficiency =
        configuration_->costs.empty() ? row.efficiency : row.replay.total.weighted_efficiency(warp_size);
    row.paths = tally_packed(data_->trace, *configuration_, packed, paths_);
    if (pixel_maps_) {
      row.efficiency_map = efficiency_map(data_->trace.launches[configuration_->launch].size, row.replay.by_thread,
                                          warp_size, bench_->accelerator());
      row.replay.by_thread = std::vector<simt::Tally>();  // `= {}` would keep the memory
    }
    return row;
  }

 private:
  Workbench* bench_;
  std::shared_ptr<const InputData> data_;
  const Resolved* configuration_;
  bool pixel_maps_;
  std::shared_ptr<const profile::EventPaths> paths_;
};

}  // namespace

simt::ReplayResult replay(Workbench& bench, const Experiment& experiment, simt::ReplayOptions options) {
  const auto data = input(bench, experiment);
  const Resolved resolved = resolved_of(*experiment.settings, data->trace, true);
  return replay_packed(bench, data, resolved, *assignment(bench, experiment), std::move(options));
}

std::shared_ptr<const profile::EventPaths> event_paths(Workbench& bench, const Experiment& experiment) {
  static const Stage kInput = stage("input");
  const Key key = KeyMaker()
                      .add("event paths")
                      .add(experiment.key(kInput))
                      .add(std::to_string(experiment.settings->integer("launch")))
                      .key();
  const auto found = bench.shared<PathsOfInput>(key, [&] {
    const auto data = input(bench, experiment);
    auto made = std::make_shared<PathsOfInput>();
    made->paths = profile::event_paths(data->trace, launch_of(*data, experiment));
    made->data = made->paths == nullptr ? nullptr : data;
    const std::uint64_t bytes = made->paths == nullptr ? 0 : launch_of(*data, experiment).data.events.size() * 4;
    return std::pair(std::shared_ptr<const PathsOfInput>(std::move(made)), sizeof(PathsOfInput) + bytes);
  });
  return {found, found->paths.get()};
}

profile::PathTallies tally_paths(Workbench& bench, const Experiment& experiment) {
  const auto data = input(bench, experiment);
  return tally_packed(data->trace, resolved_of(*experiment.settings, data->trace, true), *assignment(bench, experiment),
                      event_paths(bench, experiment));
}

WhatIfResult what_if(Workbench& bench, const Experiment& experiment, const WhatIfWanted& wanted) {
  const auto data = input(bench, experiment);
  WhatIfResult result;
  result.configuration = resolved_of(*experiment.settings, data->trace, true, wanted.packings, wanted.swizzles);
  const Resolved& configuration = result.configuration;
  const trace::Launch& launch = data->trace.launches[configuration.launch];
  result.trace_hash = data->trace.hash;
  result.tool_version = RAYREPLAY_VERSION;
  result.size = launch.size;
  result.rays = launch.data.rays.size();
  result.events = launch.data.events.size();
  const auto order = launch_order(bench, experiment);
  result.warps = order->warps();
  std::vector<scheduler::Swizzle> swizzles;
  for (const std::string& file : configuration.swizzles) {
    swizzles.push_back(scheduler::read_swizzle(file, launch.size));
  }
  Progress* const progress = bench.progress();
  report_start(progress, "packings", configuration.packings.size() + swizzles.size());
  result.bound = *bound(bench, experiment);
  const RowMaker make_row(bench, data, configuration, wanted.pixel_maps, event_paths(bench, experiment));
  const auto add = [&](WhatIfRow row) {
    result.rows.push_back(std::move(row));
    report_advance(progress, 1);
  };
  // Sequential: a row needs several arrays of one entry per thread, and its work is parallel already.
  for (const std::string& packing : configuration.packings) {
    Settings settings;
    add(make_row(packing, *assignment(bench, with(experiment, "packing", packing, settings))));
  }
  for (std::size_t i = 0; i < swizzles.size(); ++i) {
    add(make_row("file:" + configuration.swizzles[i], scheduler::apply(*order, swizzles[i])));
  }
  for (WhatIfRow& row : result.rows) {
    row.change = relative_change(row.efficiency, result.rows.front().efficiency);
    row.weighted_change = relative_change(row.weighted_efficiency, result.rows.front().weighted_efficiency);
  }
  result.weighted_bound = weighted_bound(result.rows.front().replay, configuration.costs);
  if (wanted.pixel_maps) {
    result.maps.counts = count_pixels(launch, bench.on_device(data, configuration.launch));
    result.maps.order = order_map(launch.size, *order);
  }
  report_finish(progress);
  return result;
}

namespace {

constexpr StageCode kCode = {.estimate_bytes = estimated_bytes, .numbers = make_numbers, .alone = true};

const StageRegistrar kRegistrar(
    {.name = "simt",
     .text = "The launch replayed warp by warp: SIMT efficiency",
     .position = 30,
     .takes = {"input", "assignment"},
     .format = 2,
     .metrics =
         {
             {"simt_efficiency", "", "share", "Active lanes of all lanes, over warp events", Goal::More},
             {"simt_weighted_efficiency", "", "share",
              "The same, each event weighted with the cycles of its shader (costs)", Goal::More},
             {"simt_warp_events", "", "events", "Shader and trace calls, each made by lanes of a warp together",
              Goal::Less},
             {"simt_active_lanes", "", "lanes", "Sum of active lanes over warp events", Goal::None},
             {"simt_bound_efficiency", "", "share", "SIMT efficiency that no packing exceeds", Goal::None},
             {"simt_path_efficiency", "", "share",
              "SIMT efficiency by instruction, from paths of calls, if lanes meet again at every block", Goal::More},
             {"simt_path_share", "", "share", "Active lanes whose warp events have paths: what it counts", Goal::None},
         },
     .rank = 1,
     .varies = {"packing"},
     .unit_weight = 2},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
