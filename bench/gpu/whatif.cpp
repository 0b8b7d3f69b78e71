// A whole what-if: ten packings, each sorted and replayed, and SER of the launch, from the trace in memory to the sums.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/split_mix.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "bench/simt/synthetic_launch.hpp"
#include "kernels/launch_on_device.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/launch/warps.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::bench {
namespace {

constexpr double kEvents = 100e6;
constexpr double kMinEvents = 20'000;
constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint32_t kObjects = 485;
constexpr std::array kPackings = {"numrays",          "tiled-numrays",    "objects",       "tiled-objects",
                                  "first-hit-shader", "shader-sequence",  "origin-morton", "origin-hilbert",
                                  "direction-morton", "direction-hilbert"};

/// −1 … 1
float unit(std::uint64_t index) {
  return static_cast<float>(static_cast<double>(split_mix(kSeed, index) >> 40U) * (2.0 / 16777216.0) - 1.0);
}

/// What packings sort by, beside what the replayer reads: rays, and the objects that are hit.
void fill_in(trace::Launch& launch) {
  trace::ThreadData& data = launch.data;
  const std::size_t events = data.events.kind.size();
  const std::size_t threads = data.event_offset.size() - 1;
  data.ray_offset.assign(threads + 1, 0);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    std::uint64_t rays = 0;
    for (std::size_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      const trace::EventKind kind = data.events.kind[row];
      rays += kind == trace::EventKind::Begin || kind == trace::EventKind::OcclusionBegin ? 1 : 0;
    }
    data.ray_offset[thread + 1] = data.ray_offset[thread] + rays;
  }
  data.events.instance.resize(events);
  data.events.primitive.resize(events);
  for (std::size_t row = 0; row < events; ++row) {
    const std::uint64_t bits = split_mix(kSeed + 1, row);
    data.events.instance[row] = static_cast<std::uint32_t>(bits >> 32U) % 8;
    data.events.primitive[row] = static_cast<std::uint32_t>(bits) % kObjects;
  }
  trace::Rays& rays = data.rays;
  const std::size_t count = data.ray_offset.back();
  std::uint64_t number = 0;
  for (trace::Column<float>* column :
       {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y, &rays.direction_z}) {
    column->resize(count);
    for (float& value : *column) {
      value = unit(number++);
    }
  }
}

struct Answer {
  std::vector<simt::Tally> rows;
  simt::Tally ser;
  bool operator==(const Answer&) const = default;
};

constexpr const char* kOrder = "z-order";

struct Prepared {
  std::shared_ptr<experiment::InputData> data = std::make_shared<experiment::InputData>();
  experiment::Settings settings;
  experiment::Experiment opened;
  kernels::DeviceInfo info;
  std::array<Answer, 2> answers;
  std::array<std::unique_ptr<Accelerator>, 2> accelerators;  ///< the device, the processor

  void compute(std::size_t side) {
    Accelerator& accelerator = *accelerators.at(side);
    Answer& answer = answers.at(side);
    answer = {};
    experiment::Evaluator evaluator({nullptr, 0});
    experiment::Workbench work = evaluator.workbench(&accelerator, nullptr);
    const experiment::WhatIfResult result = experiment::what_if(
        work, opened, {.packings = {kPackings.begin(), kPackings.end()}, .swizzles = {}, .pixel_maps = false});
    for (const experiment::WhatIfRow& row : result.rows) {
      answer.rows.push_back(row.replay.total);
    }
    const trace::Trace& trace = data->trace;
    const trace::Launch& launch = trace.launches[0];
    trace::AcceleratedLaunch on_device(accelerator, launch);
    const scheduler::WarpAssignment order = experiment::in_order(launch, kOrder, kWarpSize);
    const auto ser = scheduler::SchedulerModels::create("ser").model;
    const scheduler::Segments cut = scheduler::cut_paths(launch, ser->cut(), &on_device);
    const scheduler::SegmentSchedule schedule =
        ser->schedule({trace, launch, order, cut, scheduler::MachineFacts{}, scheduler::HintSources{}, &on_device});
    simt::SegmentReplayOptions options;
    options.on_device = &on_device;
    options.schedule_on_device = schedule.on_device.get();
    answer.ser =
        simt::replay_segments(launch, trace.shaders, cut, schedule.segment_at, kWarpSize, options).replay.total;
  }
};

PreparedCase prepare(kernels::Device& device, double scale) {
  auto prepared = std::make_shared<Prepared>();
  SyntheticLaunch made =
      make_launch(Workload::Weekend, static_cast<std::uint64_t>(std::max(kEvents * scale, kMinEvents)), kSeed);
  fill_in(made.launch);
  prepared->data->trace.shaders = std::move(made.shaders);
  prepared->data->trace.launches.push_back(std::move(made.launch));
  experiment::Settings asked;
  asked.set("warp_size", std::int64_t{kWarpSize}, "");
  asked.set("order", std::string(kOrder), "");
  prepared->settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  prepared->opened = experiment::Evaluator::open(prepared->settings, prepared->data, "bench");
  std::vector<std::unique_ptr<kernels::Device>> devices;
  devices.push_back(std::make_unique<kernels::Device>(device.info()));
  prepared->accelerators[0] = std::make_unique<Accelerator>(std::move(devices), true, nullptr);
  prepared->accelerators[1] =
      std::make_unique<Accelerator>(std::vector<std::unique_ptr<kernels::Device>>{}, false, nullptr);
  const trace::ThreadData& data = prepared->data->trace.launches[0].data;
  PreparedCase result;
  result.size = fmt::format("{:.3g} M events, {:.3g} M threads", static_cast<double>(data.events.kind.size()) / 1e6,
                            static_cast<double>(data.threads()) / 1e6);
  result.unit = "events";
  result.items = static_cast<double>(data.events.kind.size());
  result.by_wall_clock = true;
  result.device = [prepared] { prepared->compute(0); };
  result.cpu = [prepared] { prepared->compute(1); };
  result.check = [prepared] {
    if (prepared->answers[0] != prepared->answers[1]) {
      throw Error(ErrorKind::Internal, {"the device's what-if differs from the processor's", "", "", "", ""});
    }
  };
  return result;
}

const GpuCases::Registrar kRegistrar({"what-if: ten packings and SER, end to end", {}, prepare});

}  // namespace
}  // namespace rayreplay::bench
