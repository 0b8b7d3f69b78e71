// The replayer (kernels/simt): encoding a launch's calls, replays of threads and of segments.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/gpu/gpu_case.hpp"
#include "bench/simt/synthetic_launch.hpp"
#include "kernels/launch_on_device.hpp"
#include "kernels/simt/codes.hpp"
#include "kernels/simt/twins.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::bench {
namespace {

constexpr double kEvents = 100e6;
constexpr double kMinEvents = 20'000;
constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint32_t kSmallWarp = 8;
constexpr std::uint32_t kLargeWarp = 64;
constexpr std::uint64_t kSeed = 1;

struct Setting {
  Workload workload;
  bool shuffled;
  simt::Policy policy;
  std::uint32_t warp_size = kWarpSize;
  bool everything = false;  ///< sums by warp and by thread, too
  bool segments = false;    ///< SER's, with two tables of weights; with `everything` the detail instead
};

std::string name_of(const Setting& setting) {
  return fmt::format("replay{}, {}{}{}", setting.segments ? " of segments" : "", simt::to_string(setting.policy),
                     setting.warp_size == kWarpSize ? "" : fmt::format(", warps of {}", setting.warp_size),
                     !setting.everything ? ""
                     : setting.segments  ? ", detail"
                                         : ", by warp and thread");
}

/// Made once for all cases: it takes longer than what is measured.
const SyntheticLaunch& launch_of(Workload workload, double scale) {
  static std::map<std::pair<Workload, std::uint64_t>, SyntheticLaunch> made;
  const auto events = static_cast<std::uint64_t>(std::max(kEvents * scale, kMinEvents));
  const auto found = made.find({workload, events});
  return found != made.end()
             ? found->second
             : made.emplace(std::pair(workload, events), make_launch(workload, events, kSeed)).first->second;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::Internal, {"the device's " + what + " differ from the processor's", "", "", "", ""});
}

/// A launch, its columns and codes on the device, and what both sides last computed.
struct Prepared {
  Prepared(const Setting& given, kernels::Device& on, double scale)
      : setting(given),
        device(&on),
        made(launch_of(given.workload, scale)),
        order(make_assignment(made.launch.size, given.warp_size, given.shuffled, kSeed)),
        resident(nobody, made.launch) {
    if (setting.segments) {
      segments = scheduler::cut_paths(made.launch, {.at = scheduler::CutAt::PendingCall});
      // As launched, round after round of a warp: what a replay costs does not depend on who meets whom.
      segment_at.resize((segments.size() + setting.warp_size - 1) / setting.warp_size * setting.warp_size);
      for (std::size_t place = 0; place < segment_at.size(); ++place) {
        const std::size_t stride = segments.size() / setting.warp_size + 1;
        const std::size_t segment = place % setting.warp_size * stride + place / setting.warp_size;
        const bool one = segment < segments.size() && place / setting.warp_size < stride;
        segment_at[place] = one ? static_cast<std::uint32_t>(segment) : scheduler::kNoSegment;
      }
      segment_options.detail = setting.everything;
      segment_options.weights.assign(setting.everything ? 0 : 2,
                                     simt::CallWeights(made.shaders.size() * trace::kEventKinds, 3));
    }
    options.policy = segment_options.policy = setting.policy;
    options.per_warp = options.per_thread = setting.everything && !setting.segments;
  }

  simt::ReplayResult replay(bool here) {
    simt::ReplayOptions asked = options;
    if (!here) {
      return simt::replay(made.launch, made.shaders, order, asked);
    }
    asked.on_device = &resident;
    return simt::replay_on({&device, 1}, made.launch, made.shaders, order, asked);
  }
  simt::SegmentReplayResult replay_segments(bool here) {
    simt::SegmentReplayOptions asked = segment_options;
    if (!here) {
      return simt::replay_segments(made.launch, made.shaders, segments, segment_at, setting.warp_size, asked);
    }
    asked.on_device = &resident;
    return simt::replay_segments_on({&device, 1}, made.launch, made.shaders, segments, segment_at, setting.warp_size,
                                    asked);
  }
  void compute(bool here) {
    const std::size_t side = here ? 0 : 1;
    if (setting.segments) {
      segment_results.at(side) = replay_segments(here);
      results.at(side) = segment_results.at(side).replay;
    } else {
      results.at(side) = replay(here);
    }
  }
  void check() const {
    const auto& [found, expected] = results;
    if (found.total != expected.total || found.by_shader != expected.by_shader) {
      fail("sums");
    }
    if (found.by_warp != expected.by_warp || found.by_thread != expected.by_thread) {
      fail("sums by warp and thread");
    }
    if (segment_results[0].weights != segment_results[1].weights) {
      fail("weights");
    }
    if (segment_results[0].by_bounce != segment_results[1].by_bounce ||
        segment_results[0].active_lanes != segment_results[1].active_lanes) {
      fail("details");
    }
  }

  Setting setting;
  kernels::Device* device;
  const SyntheticLaunch& made;
  scheduler::WarpAssignment order;
  scheduler::Segments segments;
  trace::Column<std::uint32_t> segment_at;
  Accelerator nobody;
  trace::AcceleratedLaunch resident;
  simt::ReplayOptions options;
  simt::SegmentReplayOptions segment_options;
  std::array<simt::ReplayResult, 2> results;  ///< the device's, the processor's
  std::array<simt::SegmentReplayResult, 2> segment_results;
};

double events_of(const Prepared& prepared) {
  return static_cast<double>(prepared.made.launch.data.events.size());
}

/// The launch's codes are there; places (and segments) are uploaded by each run, which the wall clock sees.
PreparedCase prepare_replay(const Setting& setting, kernels::Device& device, double scale) {
  auto prepared = std::make_shared<Prepared>(setting, device, scale);
  prepared->compute(true);
  const double efficiency = prepared->results[0].total.efficiency(setting.warp_size);
  const auto pieces =
      static_cast<double>(setting.segments ? prepared->segments.size() : prepared->made.launch.data.threads());
  const auto warps = static_cast<double>(prepared->order.warps());
  constexpr double kTally = 32;
  PreparedCase result;
  result.size = fmt::format("{:.3g} M events, {}{}, {:.0f} % efficiency", events_of(*prepared) / 1e6,
                            to_string(setting.workload), setting.shuffled ? ", shuffled" : "", 100 * efficiency);
  result.unit = "events";
  result.items = events_of(*prepared);
  // A byte an event, a place and a row of offsets a piece, what is written.
  result.least_bytes =
      events_of(*prepared) + 12 * pieces + (prepared->options.per_warp ? kTally * (pieces + warps) : 0);
  result.device = [prepared] { prepared->compute(true); };
  result.cpu = [prepared] { prepared->compute(false); };
  result.check = [prepared] { prepared->check(); };
  return result;
}

/// Upload of the kind and shader columns included in the wall clock, not in the device's.
PreparedCase prepare_encoding(kernels::Device& device, double scale) {
  auto prepared =
      std::make_shared<Prepared>(Setting{Workload::Divergent, false, simt::Policy::StageMajority}, device, scale);
  auto code_of =
      std::make_shared<std::vector<std::uint16_t>>(prepared->made.shaders.size() << kernels::simt::kKindBits, 3);
  PreparedCase result;
  result.size = fmt::format("{:.3g} M events, upload in the wall clock", events_of(*prepared) / 1e6);
  result.unit = "events";
  result.items = events_of(*prepared);
  result.least_bytes = 4 * events_of(*prepared);
  result.device = [prepared, code_of] {
    kernels::LaunchOnDevice anew(prepared->made.launch);
    kernels::Stream stream(*prepared->device);
    (void)kernels::simt::encode(anew, *prepared->device, stream, *code_of);
  };
  return result;
}

GpuCase replay_case(const Setting& setting) {
  return {name_of(setting), {}, [setting](kernels::Device& device, double scale) {
            return prepare_replay(setting, device, scale);
          }};
}

using simt::Policy;
const std::array kRegistrars{
    GpuCases::Registrar({"replay: calls to codes", {}, prepare_encoding}),
    GpuCases::Registrar(replay_case({Workload::Coherent, false, Policy::StageMajority})),
    GpuCases::Registrar(replay_case({Workload::Weekend, false, Policy::StageMajority})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority})),
    GpuCases::Registrar(replay_case({Workload::Divergent, true, Policy::StageMajority})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::MinShader})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::OldestLane})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::Independent})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::TraceBarrier})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority, kSmallWarp})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority, kLargeWarp})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority, kWarpSize, true})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority, kWarpSize, false, true})),
    GpuCases::Registrar(replay_case({Workload::Divergent, false, Policy::StageMajority, kWarpSize, true, true})),
};

}  // namespace
}  // namespace rayreplay::bench
