// What does SER of a whole launch cost beside the plain replay of the same events?
//
// SER: launch scope, everybody arriving together, key shader alone; timed from the launch in memory to the sums:
// cutting, keys, schedule, replay. Plain: simt::replay in the launch order. They run in turn, several times; the ratio
// is of the best times. `--events=N` (100 M without it; also run at 10 M), `--workers=N` (2).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "bench/simt/synthetic_launch.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "sim/simt/replayer.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kWarpSize = 32;
constexpr int kTurns = 5;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double resident_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

/// The best times of several turns.
struct Best {
  double plain = std::numeric_limits<double>::infinity();
  double cut = plain, keys = plain, schedule = plain, replay = plain, ser = plain;
};

void measure(benchmark::State& state, bench::Workload workload, std::uint64_t events) {
  trace::Trace trace;
  {
    bench::SyntheticLaunch made = bench::make_launch(workload, events, kSeed);
    trace.shaders = std::move(made.shaders);
    trace.launches.push_back(std::move(made.launch));
  }
  const trace::Launch& launch = trace.launches[0];
  const auto order = bench::make_assignment(launch.size, kWarpSize, false, kSeed);
  const double before = resident_gigabytes();
  Best best;
  double plain_efficiency = 0;
  double ser_efficiency = 0;
  double after_plain = 0;
  std::size_t count = 0;
  for ([[maybe_unused]] auto iteration : state) {
    for (int turn = 0; turn < kTurns; ++turn) {
      const double start = now();
      plain_efficiency = simt::replay(launch, trace.shaders, order).total.efficiency(kWarpSize);
      const double plain = now();
      after_plain = turn == 0 ? resident_gigabytes() : after_plain;
      const scheduler::HintSources hints;
      const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
      const double cut = now();
      const scheduler::PlanContext context{trace, launch, order, segments, {}, hints};
      const auto keys = scheduler::reorder_keys(context, {});
      const double keyed = now();
      const auto schedule = scheduler::schedule_rounds(context, keys, {});
      const double scheduled = now();
      ser_efficiency = simt::replay_segments(launch, trace.shaders, segments, schedule.segment_at, kWarpSize, {})
                           .replay.total.efficiency(kWarpSize);
      const double end = now();
      count = segments.size();
      best.plain = std::min(best.plain, plain - start);
      best.cut = std::min(best.cut, cut - plain);
      best.keys = std::min(best.keys, keyed - cut);
      best.schedule = std::min(best.schedule, scheduled - keyed);
      best.replay = std::min(best.replay, end - scheduled);
      best.ser = std::min(best.ser, end - plain);
    }
    state.SetIterationTime(best.ser);
  }
  state.counters["ratio"] = best.ser / best.plain;
  state.counters["segments"] = static_cast<double>(count);
  fmt::print(
      "{}: {:.0f} M events, {:.1f} M segments: plain {:.3f} s, SER {:.3f} s = cut {:.3f}, keys {:.3f}, schedule "
      "{:.3f}, "
      "replay {:.3f} (best of {} each): {:.2f} times plain; efficiency {:.3f} to {:.3f}; resident {:.2f} GB before, "
      "{:.2f} after plain, {:.2f} at most\n",
      to_string(workload), static_cast<double>(launch.data.events.size()) / 1e6, static_cast<double>(count) / 1e6,
      best.plain, best.ser, best.cut, best.keys, best.schedule, best.replay, kTurns, best.ser / best.plain,
      plain_efficiency, ser_efficiency, before, after_plain, resident_gigabytes());
}

}  // namespace
}  // namespace rayreplay

int main(int argc, char** argv) {
  std::uint64_t events = 100'000'000;
  std::size_t workers = 2;
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--events=")) {
      events = std::strtoull(argv[i] + std::string_view("--events=").size(), nullptr, 10);
    } else if (argument.starts_with("--workers=")) {
      workers = std::strtoull(argv[i] + std::string_view("--workers=").size(), nullptr, 10);
    } else {
      fmt::print(stderr, "unknown option {}; there are --events=N and --workers=N\n", argument);
      return 1;
    }
  }
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          std::max<std::size_t>(workers, 1));
  using rayreplay::bench::Workload;
  for (const Workload workload : {Workload::Weekend, Workload::Divergent, Workload::Coherent}) {
    benchmark::RegisterBenchmark(fmt::format("{}/events:{}", to_string(workload), events).c_str(),
                                 [=](benchmark::State& state) { rayreplay::measure(state, workload, events); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
