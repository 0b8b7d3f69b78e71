#include "sim/machine/work_counts.hpp"

#include <algorithm>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include "sim/machine/path_weigher.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::size_t kWarpsAtOnce = 1024;
/// A table counts two classes: one in the low bits of the sum, the other from this bit on. A warp has fewer events.
constexpr std::uint32_t kSecondClass = 31;

}  // namespace

WorkCounts::WorkCounts(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                       const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule,
                       const CallClasses& classes, const Costs& costs, simt::Policy policy)
    : classes_(classes), warp_size_(schedule.warp_size), counted_steps_(!costs.ray_steps.empty()), paths_(costs.paths) {
  const std::size_t count = classes.calls.size();
  const std::size_t warps = schedule.warps();
  events_.resize(warps * count);
  for (std::size_t first = 0; first < count; first += kClassesAtOnce) {
    const std::size_t last = std::min(count, first + kClassesAtOnce);
    const std::size_t tables = (last - first + 1) / 2;
    simt::SegmentReplayOptions options;
    options.policy = policy;
    options.weights.assign(tables, simt::CallWeights(classes.of_call.size(), 0));
    for (std::size_t call = 0; call < classes.of_call.size(); ++call) {
      const std::size_t place = classes.of_call[call];
      if (place != kNoClass && place >= first && place < last) {
        options.weights[(place - first) / 2][call] = (place - first) % 2 == 0 ? 1U : 1U << kSecondClass;
      }
    }
    const std::vector<std::uint64_t> sums =
        simt::replay_segments(launch, shaders, segments, schedule.segment_at, schedule.warp_size, options).weights;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      for (std::size_t place = first; place < last; ++place) {
        const std::uint64_t sum = sums[warp * tables + (place - first) / 2];
        events_[warp * count + place] = static_cast<std::uint32_t>(
            (place - first) % 2 == 0 ? sum & ((1U << kSecondClass) - 1) : sum >> kSecondClass);
      }
    }
  }
  const JobMaker maker(launch, segments, Machine{}, costs);
  const std::size_t by_path = paths_ == nullptr ? 0 : paths_->calls().size();
  oneapi::tbb::enumerable_thread_specific<PathWeigher> weighers(
      [&] { return PathWeigher(launch, shaders, segments, schedule.warp_size, policy, *paths_); });
  path_sums_.resize(warps * by_path);
  rays_.resize(warps);
  lanes_.resize(warps);
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, warps, kWarpsAtOnce), [&](const auto& range) {
    for (std::size_t warp = range.begin(); warp < range.end(); ++warp) {
      const auto lanes = std::span(schedule.segment_at).subspan(warp * warp_size_, warp_size_);
      rays_[warp] = maker.rays(lanes);
      if (by_path != 0) {
        std::ranges::copy(weighers.local().weigh(lanes),
                          path_sums_.begin() + static_cast<std::ptrdiff_t>(warp * by_path));
      }
      lanes_[warp] = static_cast<std::uint32_t>(
          lanes.size() - static_cast<std::size_t>(std::count(lanes.begin(), lanes.end(), scheduler::kNoSegment)));
    }
  });
}

Workload WorkCounts::workload(const std::vector<CallCost>& calls, double steps_per_ray, const Machine& machine) const {
  struct Scaled {
    std::uint64_t issue = 0, latency = 0;
    std::uint32_t hit = 0;
  };
  const std::size_t count = classes_.calls.size();
  std::vector<Scaled> scaled(count);
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t call = classes_.calls[place];
    const auto kind = static_cast<trace::EventKind>(call % trace::kEventKinds);
    const bool of_path = paths_ != nullptr && paths_->place(call) != PathCosts::kNone;
    scaled[place] = {of_path ? 0 : scaled_cost(calls[call].issue),
                     of_path && !calls[call].own_latency() ? 0 : scaled_cost(calls[call].latency),
                     kind == trace::EventKind::ClosestHit ? 1U : 0U};
  }
  const std::size_t by_path = paths_ == nullptr ? 0 : paths_->calls().size();
  const StepCosts steps(machine, counted_steps_ ? 1 : steps_per_ray);
  Workload workload;
  workload.jobs.resize(rays_.size());
  workload.hits.resize(rays_.size());
  workload.lanes = lanes_;
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<std::size_t>(0, rays_.size(), kWarpsAtOnce), [&](const auto& range) {
        for (std::size_t warp = range.begin(); warp < range.end(); ++warp) {
          std::uint64_t issue = 0, latency = 0;
          std::uint32_t hits = 0;
          for (std::size_t place = 0; place < count; ++place) {
            const std::uint32_t events = events_[warp * count + place];
            issue += events * scaled[place].issue;
            latency += events * scaled[place].latency;
            hits += events * scaled[place].hit;
          }
          if (by_path != 0) {
            add_paths(*paths_, calls, std::span(path_sums_).subspan(warp * by_path, by_path), issue, latency);
          }
          workload.jobs[warp] = make_job(rays_[warp], warp_size_, issue, latency, steps);
          workload.hits[warp] = hits;
        }
      });
  return workload;
}

}  // namespace rayreplay::machine
