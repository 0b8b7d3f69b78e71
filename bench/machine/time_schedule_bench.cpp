// Jobs per second of the time model: schedules of 3 million warps, as a launch of 100 million events gives them.
//
//   plain   one warp a unit, on whichever SM has room
//   rounds  one unit, ten rounds with exchanges, spread over all SMs
//   fixed   a unit per SM, ten rounds
// The peer is a discrete-event queue with jobs of fixed length (no sharing): std::priority_queue of ends, which is what
// list scheduling costs at least.
#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>

#include <benchmark/benchmark.h>

#include "base/split_mix.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint32_t kWarps = 3'000'000;
constexpr std::uint32_t kRounds = 10;
constexpr std::uint32_t kResident = 32;

enum class Shape : std::uint8_t { Plain, Rounds, Fixed };

Workload make_jobs() {
  std::uint64_t drawn = 0;
  const auto below = [&](double most) { return static_cast<double>(split_mix(7, drawn++) >> 40U) * 0x1p-24 * most; };
  Workload workload;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    workload.jobs.push_back(
        {.shading = 1000 + below(9000), .traversal = below(3000), .issue = below(900), .visits = below(1500)});
    workload.hits.push_back(1);
    workload.lanes.push_back(32);
  }
  return workload;
}

scheduler::SegmentSchedule make_schedule(Shape shape, std::uint32_t sms) {
  scheduler::SegmentSchedule schedule;
  schedule.moved.assign(kWarps, 16);
  schedule.spread = shape == Shape::Rounds;
  const std::uint32_t units = shape == Shape::Plain ? kWarps : shape == Shape::Rounds ? 1 : sms;
  const std::uint32_t rounds = shape == Shape::Plain ? 1 : kRounds;
  schedule.round_begin.push_back(0);
  schedule.unit_begin.push_back(0);
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      schedule.round_begin.push_back(kWarps * (unit * rounds + round + 1) / (std::uint64_t{units} * rounds));
    }
    schedule.unit_begin.push_back((unit + 1) * rounds);
    schedule.unit_sm.push_back(shape == Shape::Fixed ? static_cast<std::uint32_t>(unit) : scheduler::kAnySm);
  }
  return schedule;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void queue_ends(const Workload& workload, std::size_t slots) {
  using End = std::pair<double, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  double now = 0;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    if (ends.size() == slots) {
      now = ends.top().first;
      ends.pop();
    }
    ends.emplace(now + workload.jobs[warp].solo(), warp);
  }
  benchmark::DoNotOptimize(now);
}

/// `times_queue`: median over iterations of the time model's time to that of the queue, run right after it.
void time_of(benchmark::State& state, Shape shape) {
  const Machine machine = load_machine("rtx4090");
  const Workload workload = make_jobs();
  const scheduler::SegmentSchedule schedule = make_schedule(shape, machine.sms);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double model = seconds_of([&] {
      benchmark::DoNotOptimize(
          time_schedule(schedule, workload, machine, kResident, {.bytes_per_moved = 80}, {}, {}).cycles);
    });
    state.SetIterationTime(model);
    ratios.push_back(model / seconds_of([&] { queue_ends(workload, std::size_t{machine.sms} * kResident); }));
  }
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
  state.counters["times_queue"] = ratios[ratios.size() / 2];
  state.SetItemsProcessed(state.iterations() * kWarps);
}

BENCHMARK_CAPTURE(time_of, plain, Shape::Plain)->Unit(benchmark::kMillisecond)->Iterations(5)->UseManualTime();
BENCHMARK_CAPTURE(time_of, rounds, Shape::Rounds)->Unit(benchmark::kMillisecond)->Iterations(5)->UseManualTime();
BENCHMARK_CAPTURE(time_of, fixed, Shape::Fixed)->Unit(benchmark::kMillisecond)->Iterations(5)->UseManualTime();

}  // namespace
}  // namespace rayreplay::machine

BENCHMARK_MAIN();
