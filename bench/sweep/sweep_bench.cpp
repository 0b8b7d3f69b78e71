// What it costs to work a sweep off: 256 independent experiments (each makes a launch of its own, replays it, times it
// under SER, and traces its rays again) on one thread and on several; the same by MPI, two ranks of one thread each
// against one process of two threads; and going on with a sweep of 10,000 runs that are all finished.
//
//   independent   `speed_up`: time on one thread / time on N (the whole process is limited to N)
//                 `efficiency`: that / N
//   mpi           `ratio`: wall clock of mpirun -n 2 / of --threads 2, both with start and end of the processes
//   resume        seconds from opening the database to knowing that nothing is left
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/workers/runner.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::sweep {
namespace {

constexpr int kExperiments = 256;
constexpr int kFinished = 10'000;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Launches of their own: nothing is shared.
std::string independent_text() {
  return fmt::format(
      "[experiment]\nworkload = \"coherence:warps=300\"\noutputs = \"simt,model,traversal\"\n"
      "scheduler.model = \"ser\"\n[axes]\n\"workload:seed\" = {{ from = 1, to = {}, step = 1 }}\n",
      kExperiments);
}

/// One small launch under random packings.
std::string packings_text(int experiments) {
  return fmt::format(
      "[experiment]\nworkload = \"divergence:warps=1\"\npacking = \"random\"\n[axes]\n"
      "\"packing:seed\" = {{ from = 1, to = {}, step = 1 }}\n",
      experiments);
}

About about_of(const Plan& plan) {
  return {definition_hash(plan.definition()), "", plan.runs(), plan.keys(), "", "1/1"};
}

void work_off(const Plan& plan, std::uint32_t threads) {
  const test::TemporaryFolder folder;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  experiment::Evaluator evaluator(experiment::EvaluatorOptions{});
  ResultsWriter results(folder / "s.db", about_of(plan), false);
  RunnerOptions options;
  options.threads = threads;
  const SweepReport report = run_sweep(plan, evaluator, results, options);
  if (report.standing.failed > 0 || report.standing.done != plan.runs()) {
    throw std::runtime_error("the sweep did not succeed");
  }
}

void independent(benchmark::State& state) {
  const Plan plan(parse_sweep(independent_text(), "bench.toml", ""));
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  double one = 0;
  double several = 0;
  for ([[maybe_unused]] const auto _ : state) {
    one += seconds_of([&] { work_off(plan, 1); });
    const double seconds = seconds_of([&] { work_off(plan, threads); });
    several += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["speed_up"] = one / several;
  state.counters["efficiency"] = one / several / threads;
  state.counters["experiments_per_second"] = kExperiments * static_cast<double>(state.iterations()) / several;
}
/// 2, 4, 8 … and all cores.
void thread_counts(benchmark::internal::Benchmark* bench) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  for (std::int64_t threads = 2; threads < cores; threads *= 2) {
    bench->Arg(threads);
  }
  bench->Arg(std::max<std::int64_t>(cores, 2));
}
BENCHMARK(independent)->Apply(thread_counts)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);

void resume(benchmark::State& state) {
  const test::TemporaryFolder folder;
  const Plan plan(parse_sweep(packings_text(kFinished), "bench.toml", ""));
  const Work nothing{[](std::span<const experiment::Settings> complete, kernels::Accelerator*, Progress*) {
                       return std::vector<experiment::Outcome>(complete.size());
                     },
                     {},
                     {}};
  const auto run = [&] {
    ResultsWriter results(folder / "s.db", about_of(plan), false);
    RunnerOptions options;
    options.threads = 2;
    return run_sweep(plan, nothing, results, options).standing.done;
  };
  if (run() != kFinished) {
    throw std::runtime_error("the sweep did not succeed");
  }
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(run());
  }
}
BENCHMARK(resume)->Unit(benchmark::kMillisecond);

#ifdef RAYREPLAY_MPIEXEC
void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
}

void mpi(benchmark::State& state) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("s.toml", independent_text());
  const std::string sweep = fmt::format("{} sweep {} --store none --restart -o {} 2>/dev/null", RAYREPLAY_COMMAND, file,
                                        (folder / "s.db").string());
  // As tests have it: as root, on fewer cores than ranks, on a machine without a network.
  const std::string launch = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " RAYREPLAY_MPIEXEC
                             " --oversubscribe --bind-to none -n 2 ";
  double threads = 0;
  double ranks = 0;
  for ([[maybe_unused]] const auto _ : state) {
    threads += seconds_of([&] { shell(sweep + " --threads 2"); });
    const double seconds = seconds_of([&] { shell(launch + sweep + " --mpi-workers rank --threads 1"); });
    ranks += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["ratio"] = ranks / threads;
}
BENCHMARK(mpi)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace rayreplay::sweep

BENCHMARK_MAIN();
