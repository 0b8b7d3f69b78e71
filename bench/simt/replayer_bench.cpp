// How fast is the replayer, and how far from the speed at which its input can be read?
//
// All ray events of a launch count as events, those that make no warp event included. Counters: `best`, events per
// second in the fastest iteration; `best_cpu`, the same per second of processor time, which other work on the machine
// disturbs less; `of_copy`, the bytes that the replayer must read (kind, shader, offsets, assignment) per second as a
// share of the copy bandwidth measured in the same run on as many workers. At the end, ratios within the run: two
// workers to one, and the replayer to its slow twin.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "bench/simt/synthetic_launch.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay {
namespace {

constexpr std::uint64_t kEvents = 20'000'000;
constexpr std::uint64_t kSeed = 1;

const bench::SyntheticLaunch& launch_of(bench::Workload workload) {
  static std::map<bench::Workload, bench::SyntheticLaunch> made;
  auto found = made.find(workload);
  if (found == made.end()) {
    found = made.emplace(workload, bench::make_launch(workload, kEvents, kSeed)).first;
  }
  return found->second;
}

/// Seconds that `work` takes on so many workers.
template <class Work>
double seconds(int workers, Work work) {
  oneapi::tbb::task_arena arena(workers);
  const auto start = std::chrono::steady_clock::now();
  arena.execute(work);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes read per second by a large memcpy, the best of several, cut among the workers.
double copy_bandwidth(int workers) {
  static std::map<int, double> known;
  if (known.contains(workers)) {
    return known[workers];
  }
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  double best = 0;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const double time = seconds(workers, [&] {
      oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, kBytes / kPiece), [&](const auto& range) {
        std::memcpy(to.data() + range.begin() * kPiece, from.data() + range.begin() * kPiece, range.size() * kPiece);
      });
    });
    best = std::max(best, static_cast<double>(kBytes) / time);
  }
  return known[workers] = best;
}

struct Setting {
  std::string name;
  bench::Workload workload;
  simt::Policy policy = simt::Policy::StageMajority;
  std::uint32_t warp_size = 32;
  bool shuffled = false;
  bool details = false;
  int workers = 1;
  const simt::kernel::Kernel* kernel = simt::kernel::kernels().front();
};

std::map<std::string, double> best_rate;

void measure(benchmark::State& state, const Setting& setting) {
  const auto& shaders = launch_of(setting.workload).shaders;
  const auto& launch = launch_of(setting.workload).launch;
  const auto assignment = bench::make_assignment(launch.size, setting.warp_size, setting.shuffled, kSeed);
  simt::ReplayOptions options;
  options.policy = setting.policy;
  options.per_warp = setting.details;
  options.per_thread = setting.details;
  const auto events = static_cast<double>(launch.data.events.size());
  const double bytes = 3 * events + 12 * static_cast<double>(launch.data.threads());
  double best = 0;
  double best_cpu = 0;
  double efficiency = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const std::clock_t cpu_start = std::clock();
    const double time = seconds(setting.workers, [&] {
      efficiency = simt::kernel::replay_on(*setting.kernel, launch, shaders, assignment, options)
                       .total.efficiency(setting.warp_size);
    });
    state.SetIterationTime(time);
    best = std::max(best, events / time);
    best_cpu = std::max(best_cpu, events * CLOCKS_PER_SEC / static_cast<double>(std::clock() - cpu_start));
  }
  best_rate[setting.name] = best;
  state.counters["events/s"] =
      benchmark::Counter(events * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["best"] = best;
  state.counters["best_cpu"] = best_cpu;
  state.counters["of_copy"] = best * bytes / events / copy_bandwidth(setting.workers);
  state.counters["efficiency"] = efficiency;
  state.counters["workers"] = setting.workers;
}

void measure_twin(benchmark::State& state, bench::Workload workload, const std::string& name) {
  const auto& shaders = launch_of(workload).shaders;
  const auto& launch = launch_of(workload).launch;
  const auto assignment = bench::make_assignment(launch.size, 32, false, kSeed);
  constexpr std::size_t kWarps = 200;
  std::uint64_t events = 0;
  for (std::size_t place = 0; place < kWarps * 32; ++place) {
    const std::size_t thread = assignment.thread_at[place];
    events += launch.data.event_offset[thread + 1] - launch.data.event_offset[thread];
  }
  for ([[maybe_unused]] auto iteration : state) {
    const double time = seconds(1, [&] {
      for (std::size_t warp = 0; warp < kWarps; ++warp) {
        benchmark::DoNotOptimize(
            simt::replay_warp_reference(launch, shaders, assignment, warp, simt::Policy::StageMajority));
      }
    });
    state.SetIterationTime(time);
    best_rate[name] = std::max(best_rate[name], static_cast<double>(events) / time);
  }
  state.counters["best"] = best_rate[name];
}

void measure_copy(benchmark::State& state, int workers) {
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(1 / copy_bandwidth(workers));
  }
  state.counters["bytes/s"] = copy_bandwidth(workers);
}

void add(const Setting& setting) {
  benchmark::RegisterBenchmark(setting.name.c_str(), [setting](benchmark::State& state) { measure(state, setting); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  using bench::Workload;
  for (const int workers : {1, 2}) {
    benchmark::RegisterBenchmark(fmt::format("memcpy/workers:{}", workers).c_str(),
                                 [workers](benchmark::State& state) { measure_copy(state, workers); })
        ->UseManualTime()
        ->Iterations(1);
  }
  for (const Workload workload : {Workload::Coherent, Workload::Divergent, Workload::Weekend}) {
    const std::string text = to_string(workload);
    for (const int workers : {1, 2}) {
      add({.name = fmt::format("{}/workers:{}", text, workers), .workload = workload, .workers = workers});
    }
    benchmark::RegisterBenchmark(
        fmt::format("{}/twin", text).c_str(),
        [text, workload](benchmark::State& state) { measure_twin(state, workload, fmt::format("{}/twin", text)); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    for (const auto policy : {simt::Policy::MinShader, simt::Policy::OldestLane, simt::Policy::Independent}) {
      add({.name = fmt::format("{}/{}", text, to_string(policy)), .workload = workload, .policy = policy});
    }
    add({.name = fmt::format("{}/shuffled", text), .workload = workload, .shuffled = true});
    add({.name = fmt::format("{}/per-warp-and-thread", text), .workload = workload, .details = true});
    for (const std::uint32_t warp_size : {8U, 64U}) {
      add({.name = fmt::format("{}/warp-size:{}", text, warp_size), .workload = workload, .warp_size = warp_size});
    }
    for (const simt::kernel::Kernel* kernel : simt::kernel::kernels()) {
      add({.name = fmt::format("{}/kernel:{}", text, kernel->name), .workload = workload, .kernel = kernel});
    }
  }
}

void print_ratios() {
  for (const auto kind : {bench::Workload::Coherent, bench::Workload::Divergent, bench::Workload::Weekend}) {
    const char* workload = to_string(kind);
    const auto rate = [&](const char* name) {
      const auto found = best_rate.find(fmt::format("{}/{}", workload, name));
      return found == best_rate.end() ? 0 : found->second;
    };
    const double one = rate("workers:1");
    if (one > 0 && rate("workers:2") > 0) {
      fmt::print("{}: {:.0f} M events/s on one worker, {:.2f} times that on two\n", workload, one / 1e6,
                 rate("workers:2") / one);
    }
    if (one > 0 && rate("twin") > 0) {
      fmt::print("{}: {:.0f} times the slow twin\n", workload, one / rate("twin"));
    }
  }
}

}  // namespace
}  // namespace rayreplay

int main(int argc, char** argv) {
  // Two workers even where the machine, or what is left of it, has one core: the ratio then says so.
  const oneapi::tbb::global_control workers(oneapi::tbb::global_control::max_allowed_parallelism, 2);
  rayreplay::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  rayreplay::print_ratios();
  return 0;
}
