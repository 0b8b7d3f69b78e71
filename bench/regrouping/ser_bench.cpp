// What does SER of a whole launch cost beside the plain replay of the same events?
//
// SER: launch scope, everybody arriving together, key shader alone; timed from the launch in memory to the sums:
// cutting, keys, schedule, replay. Plain: simt::replay in the launch order. They run in turn, several times; the ratio
// is of the best times. `--events=N` (100 M without it; also run at 10 M), `--workers=N` (2). Memory that one turn
// gives back serves the next; with `--fresh-memory` the kernel clears it anew in every turn, which on some virtual
// machines takes longer than the rest.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

#include "base/keep_memory.hpp"
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

double resident_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

/// Wall time, and time of all processors, which other work on the machine disturbs less.
struct Moment {
  double wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
};

/// The best of several turns.
struct Best {
  double wall = std::numeric_limits<double>::infinity();
  double cpu = std::numeric_limits<double>::infinity();

  void add(const Moment& from, const Moment& to) {
    wall = std::min(wall, to.wall - from.wall);
    cpu = std::min(cpu, to.cpu - from.cpu);
  }
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
  Best plain, cut, keying, scheduling, replay, ser;
  double plain_efficiency = 0;
  double ser_efficiency = 0;
  double after_plain = 0;
  std::size_t count = 0;
  for ([[maybe_unused]] auto iteration : state) {
    for (int turn = 0; turn < kTurns; ++turn) {
      const Moment start;
      plain_efficiency = simt::replay(launch, trace.shaders, order).total.efficiency(kWarpSize);
      const Moment replayed;
      plain.add(start, replayed);
      after_plain = turn == 0 ? resident_gigabytes() : after_plain;
      const scheduler::HintSources hints;
      const Moment begin;
      const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
      const Moment segmented;
      const scheduler::PlanContext context{trace, launch, order, segments, {}, hints};
      const auto keys = scheduler::reorder_keys(context, {});
      const Moment keyed;
      const auto schedule = scheduler::schedule_rounds(context, keys, {});
      const Moment scheduled;
      ser_efficiency = simt::replay_segments(launch, trace.shaders, segments, schedule.segment_at, kWarpSize, {})
                           .replay.total.efficiency(kWarpSize);
      const Moment end;
      count = segments.size();
      cut.add(begin, segmented);
      keying.add(segmented, keyed);
      scheduling.add(keyed, scheduled);
      replay.add(scheduled, end);
      ser.add(begin, end);
    }
    state.SetIterationTime(ser.wall);
  }
  state.counters["ratio"] = ser.wall / plain.wall;
  state.counters["ratio_cpu"] = ser.cpu / plain.cpu;
  fmt::print(
      "{}: {:.1f} M events, {:.1f} M segments; efficiency {:.3f} plain, {:.3f} SER; resident {:.2f} GB before, "
      "{:.2f} after plain, {:.2f} at most\n",
      to_string(workload), static_cast<double>(launch.data.events.size()) / 1e6, static_cast<double>(count) / 1e6,
      plain_efficiency, ser_efficiency, before, after_plain, resident_gigabytes());
  const auto print = [&](const char* time, double Best::*of) {
    fmt::print(
        "  {:4}: plain {:.3f} s, SER {:.3f} s ({:.2f} times plain): cut {:.3f}, keys {:.3f}, schedule {:.3f}, "
        "replay {:.3f}; best of {} each\n",
        time, plain.*of, ser.*of, ser.*of / plain.*of, cut.*of, keying.*of, scheduling.*of, replay.*of, kTurns);
  };
  print("wall", &Best::wall);
  print("cpu", &Best::cpu);
}

}  // namespace
}  // namespace rayreplay

int main(int argc, char** argv) {
  std::uint64_t events = 100'000'000;
  std::size_t workers = 2;
  bool fresh_memory = false;
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--events=")) {
      events = std::strtoull(argv[i] + std::string_view("--events=").size(), nullptr, 10);
    } else if (argument.starts_with("--workers=")) {
      workers = std::strtoull(argv[i] + std::string_view("--workers=").size(), nullptr, 10);
    } else if (argument == "--fresh-memory") {
      fresh_memory = true;
    } else {
      fmt::print(stderr, "unknown option {}; there are --events=N, --workers=N and --fresh-memory\n", argument);
      return 1;
    }
  }
  if (!fresh_memory) {
    // What a turn gives back, the next one takes, as where model follows model on one trace.
    rayreplay::keep_freed_memory();
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
