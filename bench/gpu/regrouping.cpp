// SER on the device (kernels/regrouping): cutting 100 million events into segments, their keys, and all rounds of
// warps.
//
// The launch's columns, the order in which warps start and which warps exchange threads are in device memory; what
// comes out stays there. Every run does the rest: two passes over the events, keys of shader and hint, and round after
// round. Bytes of a round: of each thread that goes on, the place, the segment, its key and the mark that it is not a
// first one (a sector of 32 bytes each of the latter two), keys and places written, sorted and read, the segment again,
// the list of warps that give threads, and where the thread stands then.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "bench/simt/synthetic_launch.hpp"
#include "kernels/regrouping/keys.hpp"
#include "kernels/regrouping/rounds.hpp"
#include "kernels/simt/twins.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/units.hpp"

namespace rayreplay::bench {
namespace {

using scheduler::Regrouping;
using scheduler::Scope;

constexpr double kEvents = 100e6;
constexpr double kMinEvents = 50'000;
constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint32_t kSms = 132;
constexpr std::uint64_t kSeed = 1;

/// Made once for all cases: it takes longer than what is measured.
const trace::Trace& trace_of(Workload workload, double scale) {
  static std::map<std::pair<Workload, std::uint64_t>, trace::Trace> made;
  const auto events = static_cast<std::uint64_t>(std::max(kEvents * scale, kMinEvents));
  const auto [at, is_new] = made.try_emplace({workload, events});
  if (is_new) {
    SyntheticLaunch launch = make_launch(workload, events, kSeed);
    at->second.shaders = std::move(launch.shaders);
    at->second.launches.push_back(std::move(launch.launch));
  }
  return at->second;
}

class SerCase {
 public:
  SerCase(kernels::Device& device, const trace::Trace& trace, const Regrouping& regrouping)
      : device_(&device),
        trace_(trace),
        regrouping_(regrouping),
        order_(make_assignment(launch().size, kWarpSize, false, kSeed)),
        resident_(nobody_, launch()),
        segments_(scheduler::cut_paths(launch(), kCut)),
        units_(scheduler::make_units(context(segments_), regrouping)),
        thread_at_(device.allocate_array<std::uint32_t>(order_.thread_at.size(), "threads by place")) {
    kernels::Stream stream(device);
    stream.upload_array(thread_at_, order_.thread_at);
    cut_there_ = kernels::cut_paths(device, stream, kernels::on_devices(resident_), kCut);
    stream.wait();
  }

  void cut() {
    kernels::Stream stream(*device_);
    cut_there_ = kernels::cut_paths(*device_, stream, kernels::on_devices(resident_), kCut);
    stream.wait();
  }
  void schedule() {
    kernels::Stream stream(*device_);
    const kernels::Buffer keys = kernels::make_keys(*device_, stream, kernels::on_devices(resident_), cut_there_, {});
    kernels::RoundsSpec spec;
    spec.warp_size = kWarpSize;
    spec.split_keys = regrouping_.split_keys;
    spec.keep_lanes = regrouping_.keep_lanes;
    spec.only_if_fewer = regrouping_.only_if_fewer;
    spec.warps = units_.warps;
    spec.unit_begin = units_.begin;
    there_ = kernels::schedule_rounds(*device_, stream, cut_there_, &keys, thread_at_, spec);
  }
  /// As a comparison of models asks for it: segments and schedule come to the processor too, places are uploaded.
  void ser_on_device() {
    const std::array<ComputeDevice*, 1> devices{device_};
    const scheduler::Segments segments = scheduler::cut_paths_twin.kernels()->run(devices, &resident_, kCut);
    scheduler::PlanContext plan = context(segments);
    plan.on_device = &resident_;
    const scheduler::SegmentSchedule schedule =
        scheduler::regroup_twin.kernels()->run(devices, plan, nullptr, scheduler::KeyParts{}, regrouping_);
    simt::SegmentReplayOptions options;
    options.on_device = &resident_;
    options.schedule_on_device = schedule.on_device.get();
    replays_[0] = simt::replay_segments_on({&device_, 1}, launch(), trace_.shaders, segments, schedule.segment_at,
                                           kWarpSize, options)
                      .replay;
  }
  void ser_on_processor() {
    cut_on_processor();
    schedule_on_processor();
    replays_[1] = simt::replay_segments(launch(), trace_.shaders, segments_, twin_.segment_at, kWarpSize, {}).replay;
  }
  void check_ser() const {
    if (replays_[0].total != replays_[1].total || replays_[0].by_shader != replays_[1].by_shader) {
      throw Error(ErrorKind::Internal, {"replays differ between device and processor", "", "", "", ""});
    }
  }

  void cut_on_processor() {
    segments_ = scheduler::cut_paths(launch(), kCut);
  }
  void schedule_on_processor() {
    twin_ = scheduler::schedule_by_key(context(segments_), scheduler::KeyParts{}, regrouping_);
  }

  void check_cut() const {
    trace::Column<std::uint64_t> event_offset(cut_there_.size + 1);
    trace::Column<std::uint16_t> bounce(cut_there_.size);
    kernels::Stream stream(*device_);
    stream.download_array(cut_there_.event_offset, event_offset);
    stream.download_array(cut_there_.bounce, bounce);
    stream.wait();
    if (event_offset != segments_.event_offset || bounce != segments_.bounce) {
      throw Error(ErrorKind::Internal, {"segments differ between device and processor", "", "", "", ""});
    }
  }
  void check_schedule() const {
    trace::Column<std::uint32_t> segment_at(there_.warps * kWarpSize);
    trace::Column<std::uint32_t> moved(there_.warps);
    kernels::Stream stream(*device_);
    stream.download_array(there_.segment_at, segment_at);
    stream.download_array(there_.moved, moved);
    stream.wait();
    if (segment_at != twin_.segment_at || moved != twin_.moved) {
      throw Error(ErrorKind::Internal, {"schedules differ between device and processor", "", "", "", ""});
    }
  }

  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches[0];
  }
  [[nodiscard]] double events() const {
    return static_cast<double>(launch().data.events.size());
  }
  /// Two passes over the kinds and offsets; counts, their sums and what is written of segments.
  [[nodiscard]] double cut_bytes() const {
    const auto threads = static_cast<double>(launch().data.threads());
    return 2 * (events() + 8 * threads) + 20 * threads + 10 * static_cast<double>(segments_.size());
  }
  [[nodiscard]] double schedule_bytes() const {
    constexpr double kSector = 32;
    const auto segments = static_cast<double>(segments_.size());
    const double going_on = segments - static_cast<double>(launch().data.threads());
    const double keys = segments * (8 + 8 + 2 * kSector);
    return keys + going_on * (4 + 4 + 2 * kSector + 2 * 8 + 2 * 8 + 4 + 4 + 4 + 4);
  }
  /// A byte an event, a place and a row of offsets a segment.
  [[nodiscard]] double replay_bytes() const {
    return events() + 12 * static_cast<double>(segments_.size());
  }
  [[nodiscard]] std::string size() const {
    return fmt::format("{:.4g} M events, {:.3g} M segments, {} rounds", events() / 1e6,
                       static_cast<double>(segments_.size()) / 1e6, segments_.most_of_a_thread);
  }

 private:
  static constexpr scheduler::Cut kCut{.at = scheduler::CutAt::PendingCall};

  [[nodiscard]] scheduler::PlanContext context(const scheduler::Segments& segments) const {
    return {trace_, launch(), order_, segments, {.sms = kSms}, hints_};
  }

  kernels::Device* device_;
  const trace::Trace& trace_;
  Regrouping regrouping_;
  scheduler::HintSources hints_;
  scheduler::WarpAssignment order_;
  Accelerator nobody_;
  trace::AcceleratedLaunch resident_;
  scheduler::Segments segments_;
  scheduler::Units units_;
  kernels::Buffer thread_at_;
  kernels::SegmentsOnDevice cut_there_;
  kernels::ScheduleOnDevice there_;
  scheduler::SegmentSchedule twin_;
  std::array<simt::ReplayResult, 2> replays_;  ///< the device's, the processor's
};

PreparedCase prepare_ser(kernels::Device& device, double scale, Workload workload) {
  const auto ser = std::make_shared<SerCase>(device, trace_of(workload, scale), Regrouping{});
  PreparedCase result;
  result.size = fmt::format("{}, {}", to_string(workload), ser->size());
  result.unit = "events";
  result.items = ser->events();
  result.least_bytes = ser->cut_bytes() + ser->schedule_bytes() + ser->replay_bytes();
  result.device = [=] { ser->ser_on_device(); };
  result.cpu = [=] { ser->ser_on_processor(); };
  result.check = [=] { ser->check_ser(); };
  return result;
}

PreparedCase prepare(kernels::Device& device, double scale, Workload workload, const Regrouping& regrouping, bool cuts,
                     bool schedules) {
  const auto ser = std::make_shared<SerCase>(device, trace_of(workload, scale), regrouping);
  PreparedCase result;
  result.size = fmt::format("{}, {}", to_string(workload), ser->size());
  result.unit = "events";
  result.items = ser->events();
  result.least_bytes = (cuts ? ser->cut_bytes() : 0) + (schedules ? ser->schedule_bytes() : 0);
  result.device = [=] {
    if (cuts) {
      ser->cut();
    }
    if (schedules) {
      ser->schedule();
    }
  };
  result.cpu = [=] {
    if (cuts) {
      ser->cut_on_processor();
    }
    if (schedules) {
      ser->schedule_on_processor();
    }
  };
  result.check = [=] {
    if (cuts) {
      ser->check_cut();
    }
    if (schedules) {
      ser->check_schedule();
    }
  };
  return result;
}

GpuCase ser_case(const char* name, Workload workload, const Regrouping& regrouping, bool cuts, bool schedules) {
  return {name, {}, [=](kernels::Device& device, double scale) {
            return prepare(device, scale, workload, regrouping, cuts, schedules);
          }};
}

const Regrouping kQueues{.split_keys = true, .keep_lanes = false};
const Regrouping kBySm{.scope = Scope::Sm};
const Regrouping kByPool{.scope = Scope::Pool, .pool_warps = 16};

GpuCase whole_case(Workload workload) {
  return {"SER: cut, repack, replay; downloads too", {}, [=](kernels::Device& device, double scale) {
            return prepare_ser(device, scale, workload);
          }};
}

const std::array kRegistrars = {
    GpuCases::Registrar(whole_case(Workload::Weekend)),
    GpuCases::Registrar(whole_case(Workload::Divergent)),
    GpuCases::Registrar(ser_case("regroup: cut paths", Workload::Weekend, {}, true, false)),
    GpuCases::Registrar(ser_case("regroup: rounds, wavefront", Workload::Weekend, kQueues, false, true)),
    GpuCases::Registrar(ser_case("regroup: rounds, SM", Workload::Weekend, kBySm, false, true)),
    GpuCases::Registrar(ser_case("regroup: rounds, pool of 16", Workload::Divergent, kByPool, false, true)),
    GpuCases::Registrar(ser_case("regroup: cut and rounds, launch", Workload::Weekend, {}, true, true)),
    GpuCases::Registrar(ser_case("regroup: cut and rounds, launch", Workload::Divergent, {}, true, true)),
    GpuCases::Registrar(ser_case("regroup: cut and rounds, launch", Workload::Coherent, {}, true, true)),
};

}  // namespace
}  // namespace rayreplay::bench
