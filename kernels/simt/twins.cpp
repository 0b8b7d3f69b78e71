#include "kernels/simt/twins.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "kernels/launch_on_device.hpp"
#include "kernels/on_each.hpp"
#include "kernels/regrouping/rounds.hpp"
#include "kernels/regrouping/segments.hpp"
#include "kernels/simt/replay.hpp"
#include "kernels/twins.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/job.hpp"

namespace rayreplay::simt {
namespace {

namespace gpu = kernels::simt;
using kernel::CallSum;
using kernels::Buffer;
using kernels::Device;
using kernels::LaunchOnDevice;
using kernels::Stream;

static_assert(sizeof(Tally) == gpu::kTallyBytes && offsetof(Tally, active_lanes) == 8 &&
              offsetof(Tally, weighted_events) == 16 && offsetof(Tally, weighted_lanes) == 24);
static_assert(kMaxWeights == RR_SIMT_MOST_WEIGHTS && kBounces == RR_SIMT_BOUNCES &&
              scheduler::kMaxWarpSize + 1 == RR_SIMT_LANE_COUNTS && kernel::kKindBits == gpu::kKindBits);

gpu::Choice choice_of(Policy policy) {
  switch (policy) {
    case Policy::StageMajority:
      return gpu::Choice::Majority;
    case Policy::OldestLane:
      return gpu::Choice::Oldest;
    case Policy::Independent:
      return gpu::Choice::Apart;
    case Policy::MinShader:
    case Policy::TraceBarrier:
      // Policies with a dictionary whose order is their preference.
      break;
  }
  return gpu::Choice::Lowest;
}

LaunchOnDevice& check_launch(trace::AcceleratedLaunch* on_device, const trace::Launch& launch) {
  if (on_device == nullptr || &on_device->launch() != &launch) {
    throw Error(ErrorKind::Internal, {"the device columns of a replay belong to another launch", "", "", "", ""});
  }
  return kernels::on_devices(*on_device);
}

/// Inputs of all devices.
struct Plan {
  LaunchOnDevice& launch;
  CallDictionary dictionary;
  std::vector<std::uint16_t> code_of;
  std::vector<gpu::CallRow> rows;
  gpu::Warps warps;  ///< without addresses
};

CallDictionary find_dictionary(LaunchOnDevice& launch, Device& device, const std::vector<trace::Shader>& shaders,
                               Policy policy) {
  // Narrow codes: all possible calls fit, so the calls that occur need not be found.
  constexpr std::size_t kMaxUnseen = 255;
  if (possible_calls(shaders.size()) <= kMaxUnseen) {
    return order_calls(shaders, policy, {});
  }
  Stream stream(device);
  return order_calls(shaders, policy, gpu::find_pairs(launch, device, stream, shaders.size()));
}

/// `weights`: as in SegmentReplayOptions.
Plan make_plan(Devices devices, LaunchOnDevice& launch, const std::vector<trace::Shader>& shaders, Policy policy,
               std::uint32_t warp_size, const std::vector<std::uint32_t>& shader_cost,
               const std::vector<CallWeights>& weights, const OnDeviceLimits& limits) {
  Plan plan{launch, find_dictionary(launch, *devices.front(), shaders, policy), {}, {}, {}};
  plan.code_of.assign(shaders.size() << kernel::kKindBits, gpu::kNoCall);
  for (std::size_t code = 0; code < plan.dictionary.calls.size(); ++code) {
    const Call call = plan.dictionary.calls[code];
    const auto kind = static_cast<std::size_t>(call.kind);
    plan.code_of[std::size_t{call.shader} << kernel::kKindBits | kind] = static_cast<std::uint16_t>(code);
    std::array<std::uint32_t, kMaxWeights> weight{};
    for (std::size_t table = 0; table < weights.size(); ++table) {
      weight.at(table) = weights[table][std::size_t{call.shader} * trace::kEventKinds + kind];
    }
    plan.rows.push_back({shader_cost.empty() ? 1 : shader_cost[call.shader], trace::begins_ray(call.kind) ? 1U : 0U,
                         weight[0], weight[1], weight[2], weight[3]});
  }
  plan.warps.warp_size = warp_size;
  plan.warps.choice = choice_of(policy);
  plan.warps.calls = static_cast<std::uint32_t>(plan.dictionary.calls.size());
  plan.warps.favoured = static_cast<std::uint32_t>(plan.dictionary.favoured);
  plan.warps.tables = static_cast<std::uint32_t>(weights.size());
  plan.warps.subgroup = limits.subgroup;
  return plan;
}

/// Runs `part(device, first, last)` for every device with warps [first, last), and passes its sums to `take` in the
/// order of the devices.
void split(Devices devices, std::uint64_t warps,
           const std::function<gpu::Sums(Device&, std::uint64_t, std::uint64_t)>& part,
           const std::function<void(const gpu::Sums&)>& take) {
  const std::size_t parts = devices.size();
  std::vector<gpu::Sums> sums(parts);
  kernels::on_each(parts,
                   [&](std::size_t i) { sums[i] = part(*devices[i], warps * i / parts, warps * (i + 1) / parts); });
  for (const gpu::Sums& one : sums) {
    take(one);
  }
}

/// Throws the processor's error for the first place with an unknown piece.
void check_pieces(std::span<const std::uint32_t> piece_at, std::uint64_t pieces) {
  const auto unknown = std::find_if(piece_at.begin(), piece_at.end(), [&](std::uint32_t piece) {
    return piece >= pieces && piece != scheduler::kNoThread;
  });
  if (unknown != piece_at.end()) {
    kernel::fail_unknown_thread(static_cast<std::uint64_t>(unknown - piece_at.begin()), *unknown, pieces);
  }
}

void add_calls(const gpu::Sums& sums, std::vector<CallSum>& calls) {
  for (std::size_t code = 0; code < calls.size(); ++code) {
    calls[code].warp_events += sums.by_call[code][0];
    calls[code].active_lanes += sums.by_call[code][1];
  }
}

std::function<void(std::uint64_t)> advancing(Progress* progress) {
  if (progress == nullptr) {
    return {};
  }
  return [progress](std::uint64_t warps) { progress->advance(warps); };
}

template <class Items>
std::span<std::byte> bytes_of(Items& items, std::uint64_t first, std::uint64_t last) {
  return items.empty() ? std::span<std::byte>() : std::as_writable_bytes(std::span(items).subspan(first, last - first));
}

std::span<const std::uint32_t> places_of(std::span<const std::uint32_t> all, std::uint64_t first, std::uint64_t last,
                                         std::uint32_t warp_size) {
  return all.subspan(first * warp_size, (last - first) * warp_size);
}

/// The table of calls on the device; must outlive the replay.
Buffer upload_rows(const Plan& plan, Device& device, Stream& stream) {
  Buffer rows = device.allocate_array<gpu::CallRow>(plan.rows.size(), "costs and weights of calls");
  stream.upload_array(rows, plan.rows);
  return rows;
}

/// A Tally's members in order, without a constructor, because the device writes them before they are read.
using TallyWords = std::array<std::uint64_t, sizeof(Tally) / sizeof(std::uint64_t)>;

/// Converts sums by place to sums by thread.
void scatter(std::span<const std::uint32_t> thread_at, const trace::Column<TallyWords>& by_place,
             std::vector<Tally>& by_thread) {
  constexpr std::size_t kPlacesPerTask = 16'384;
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, thread_at.size(), kPlacesPerTask),
                            [&](const auto& range) {
                              for (std::size_t place = range.begin(); place != range.end(); ++place) {
                                if (thread_at[place] != scheduler::kNoThread) {
                                  const TallyWords& sums = by_place[place];
                                  by_thread[thread_at[place]] = {sums[0], sums[1], sums[2], sums[3]};
                                }
                              }
                            });
}

/// Converts (bounce, call) pairs to sums by bounce and kind; costs depend on calls.
void add_bounces(const Plan& plan, const gpu::Sums& sums, SegmentReplayResult& result) {
  const std::size_t calls = plan.dictionary.calls.size();
  for (std::size_t bounce = 0; bounce < result.by_bounce.size(); ++bounce) {
    for (std::size_t code = 0; code < calls; ++code) {
      const auto [events, lanes] = sums.by_bounce[bounce * calls + code];
      const std::uint64_t cost = plan.rows[code].cost;
      result.by_bounce[bounce][static_cast<std::size_t>(plan.dictionary.calls[code].kind)] +=
          {events, lanes, events * cost, lanes * cost};
    }
  }
}

}  // namespace

ReplayResult replay_on(Devices devices, const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                       const scheduler::WarpAssignment& assignment, const ReplayOptions& options,
                       const OnDeviceLimits& limits) {
  report_start(options.progress, "replay", assignment.warps());
  const Plan plan = make_plan(devices, check_launch(options.on_device, launch), shaders, options.policy,
                              assignment.warp_size, options.shader_cost, {}, limits);
  ReplayResult result;
  result.warp_size = assignment.warp_size;
  result.policy = options.policy;
  result.by_warp.resize(options.per_warp ? assignment.warps() : 0);
  trace::Column<TallyWords> by_place(options.per_thread ? assignment.thread_at.size() : 0);
  std::vector<CallSum> calls(plan.dictionary.calls.size());

  const auto part = [&](Device& device, std::uint64_t first, std::uint64_t last) {
    Stream stream(device);
    gpu::Warps warps = plan.warps;
    warps.codes = gpu::encode(plan.launch, device, stream, plan.code_of);
    warps.offsets = plan.launch.column(device, stream, launch.data.event_offset).address();
    warps.pieces = launch.data.threads();
    const Buffer rows = upload_rows(plan, device, stream);
    warps.call_rows = rows.address();
    const gpu::HostResults host{
        bytes_of(result.by_warp, first, last), bytes_of(by_place, first * warps.warp_size, last * warps.warp_size), {}};
    return gpu::replay(device, stream, warps, {places_of(assignment.thread_at, first, last, warps.warp_size)}, host,
                       advancing(options.progress), limits.most_places);
  };
  split(devices, assignment.warps(), part, [&](const gpu::Sums& sums) {
    if (sums.unknown_piece) {
      check_pieces(assignment.thread_at, launch.data.threads());
    }
    add_calls(sums, calls);
  });
  if (options.per_thread) {
    result.by_thread.resize(launch.data.threads());
    scatter(assignment.thread_at, by_place, result.by_thread);
  }
  derive_from_calls(plan.dictionary, calls, shaders.size(), options.shader_cost, result);
  report_finish(options.progress);
  return result;
}

SegmentReplayResult replay_segments_on(Devices devices, const trace::Launch& launch,
                                       const std::vector<trace::Shader>& shaders, const scheduler::Segments& segments,
                                       std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                       const SegmentReplayOptions& options, const OnDeviceLimits& limits) {
  const std::uint64_t warp_count = segment_at.size() / warp_size;
  report_start(options.progress, "replay of segments", warp_count);
  const Plan plan = make_plan(devices, check_launch(options.on_device, launch), shaders, options.policy, warp_size,
                              options.shader_cost, options.weights, limits);
  const trace::Column<std::uint8_t> rays_before =
      options.detail ? rays_before_segments(launch, segments) : trace::Column<std::uint8_t>();
  SegmentReplayResult result;
  result.replay.warp_size = warp_size;
  result.replay.policy = options.policy;
  result.weights.resize(warp_count * options.weights.size());
  result.by_bounce.resize(options.detail ? kBounces : 0);
  std::vector<CallSum> calls(plan.dictionary.calls.size());

  const auto part = [&](Device& device, std::uint64_t first, std::uint64_t last) {
    Stream stream(device);
    gpu::Warps warps = plan.warps;
    warps.codes = gpu::encode(plan.launch, device, stream, plan.code_of);
    Buffer offsets;
    const auto* cut = static_cast<const kernels::SegmentsOnDevice*>(segments.on_device.get());
    if (cut != nullptr && cut->device == &device) {
      warps.offsets = cut->event_offset.address();
    } else {
      offsets = device.allocate_array<std::uint64_t>(segments.event_offset.size(), "segments of the launch");
      stream.upload_array(offsets, segments.event_offset);
      warps.offsets = offsets.address();
    }
    warps.pieces = segments.size();
    const Buffer rows = upload_rows(plan, device, stream);
    warps.call_rows = rows.address();
    Buffer rays;
    if (options.detail) {
      rays = device.allocate_array<std::uint8_t>(rays_before.size(), "rays before segments");
      stream.upload_array(rays, rays_before);
      warps.rays_before = rays.address();
    }
    const std::uint64_t tables = options.weights.size();
    gpu::Places places{places_of(segment_at, first, last, warp_size)};
    const auto* schedule = static_cast<const kernels::ScheduleOnDevice*>(options.schedule_on_device);
    if (schedule != nullptr && schedule->device == &device) {
      places.resident = schedule->segment_at.address() + first * warp_size * sizeof(std::uint32_t);
    }
    return gpu::replay(device, stream, warps, places, {{}, {}, bytes_of(result.weights, first * tables, last * tables)},
                       advancing(options.progress), limits.most_places);
  };
  split(devices, warp_count, part, [&](const gpu::Sums& sums) {
    if (sums.unknown_piece) {
      check_pieces(segment_at, segments.size());
    }
    add_calls(sums, calls);
    if (options.detail) {
      for (std::size_t lanes = 0; lanes < result.active_lanes.size(); ++lanes) {
        result.active_lanes.at(lanes) += sums.active_lanes.at(lanes);
      }
      add_bounces(plan, sums, result);
    }
  });
  trim_bounces(result);
  derive_from_calls(plan.dictionary, calls, shaders.size(), options.shader_cost, result.replay);
  report_finish(options.progress);
  return result;
}

namespace {

const decltype(replay_twin)::Registrar kReplayTwin(replay_twin, {.run = kernels::all_devices([](Devices devices,
                                                                                                auto&&... arguments) {
                                                                   return replay_on(devices, arguments...);
                                                                 })});
const decltype(replay_segments_twin)::Registrar kReplaySegmentsTwin(
    replay_segments_twin, {.run = kernels::all_devices([](Devices devices, auto&&... arguments) {
                             return replay_segments_on(devices, arguments...);
                           })});

}  // namespace
}  // namespace rayreplay::simt
