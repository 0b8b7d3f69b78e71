// What it costs to work a sweep off: 256 independent experiments (each makes a launch of its own, replays it, times it
// under SER, and traces its rays again) on one thread and on several; the same by MPI; and going on with a sweep of
// 10,000 runs that are all finished. Times are the least of kRounds; sweeps are whole, from the creation of the
// database to its end and that of what was kept.
//
//   independent   `speed_up`: time on one thread / time on N (the whole process is limited to N); `efficiency`: that /
//   N
//                 `apart`: N processes of 256 / N experiments side by side, against one of them by itself; `alu`,
//                 `copy`:
//                   N threads that each add and shift as many numbers, or copy as many bytes from beyond their caches,
//                   against one: what the machine takes, whatever we do. `of_alu`: efficiency of what `alu` leaves
//                 `user`: the program's own processor time on N threads / on one; `system`: the system's, as a share of
//                   it; `faults`: pages that it asked for, an experiment
//                 `idle`: share of N threads' time in which none of ours ran
//                 `before_ms`, `after_ms`: until the first experiment is evaluated, and from the last on
//   mpi/work      `ratio`: ranks of one thread, one a core, against one process of as many threads, both from the
//                   creation of the database to its end: neither start nor end of the processes
//   mpi/command   `ratio`: the same of the commands, with start and end of the processes
//                 `node`: with --mpi-workers node, where the first rank works for all of its machine
//   resume        seconds from opening the database to knowing that nothing is left
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include "base/keep_memory.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/rank_databases.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "sim/sweep/workers/mpi_session.hpp"
#include "sim/sweep/workers/runner.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kExperiments = 256;
constexpr int kFinished = 10'000;
constexpr int kRounds = 3;
constexpr double kMilliseconds = 1000;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return seconds_between(start, Clock::now());
}

double seconds_of(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
}

/// Of all threads of this process.
struct Processor {
  double user = 0, system = 0, faults = 0;

  static Processor now() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), static_cast<double>(usage.ru_minflt)};
  }
  [[nodiscard]] Processor since(const Processor& before) const {
    return {user - before.user, system - before.system, faults - before.faults};
  }
};

/// Launches of their own: nothing is shared.
std::string independent_text(int first = 1, int last = kExperiments) {
  return fmt::format(
      "[experiment]\nworkload = \"coherence:warps=300\"\noutputs = \"simt,model,traversal\"\n"
      "scheduler.model = \"ser\"\n[axes]\n\"workload:seed\" = {{ from = {}, to = {}, step = 1 }}\n",
      first, last);
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

/// Where the time of one sweep went.
struct Spent {
  double seconds = std::numeric_limits<double>::infinity();
  Processor processor;
  double before = 0, after = 0;
};

Spent work_off(const Plan& plan, std::uint32_t threads) {
  const test::TemporaryFolder folder;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  Spent spent;
  std::mutex mutex;
  std::optional<Clock::time_point> first;
  Clock::time_point last;
  const Processor processor = Processor::now();
  const Clock::time_point start = Clock::now();
  {
    experiment::Evaluator evaluator(experiment::EvaluatorOptions{});
    Work work = work_of(evaluator);
    work.evaluate = [&, whole = work.evaluate](std::span<const experiment::Settings> complete, Accelerator* accelerator,
                                               Progress* progress) {
      {
        const std::lock_guard lock(mutex);
        first = first.value_or(Clock::now());
      }
      auto outcomes = whole(complete, accelerator, progress);
      const std::lock_guard lock(mutex);
      last = Clock::now();
      return outcomes;
    };
    ResultsWriter results(folder / "s.db", about_of(plan), false);
    RunnerOptions options;
    options.threads = threads;
    const SweepReport report = run_sweep(plan, work, results, options);
    if (report.standing.failed > 0 || report.standing.done != plan.runs()) {
      throw std::runtime_error("the sweep did not succeed");
    }
  }
  const Clock::time_point end = Clock::now();
  spent.seconds = seconds_between(start, end);
  spent.processor = Processor::now().since(processor);
  spent.before = seconds_between(start, first.value_or(end));
  spent.after = seconds_between(last, end);
  return spent;
}

Plan independent_plan(int first = 1, int last = kExperiments) {
  return Plan(parse_sweep(independent_text(first, last), "bench.toml", ""));
}

Spent least(const Plan& plan, std::uint32_t threads) {
  Spent best;
  for (int round = 0; round < kRounds; ++round) {
    if (const Spent spent = work_off(plan, threads); spent.seconds < best.seconds) {
      best = spent;
    }
  }
  return best;
}

void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
}

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

double least_of_shell(const std::string& command) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    best = std::min(best, seconds_of([&] { shell(command); }));
  }
  return best;
}

/// Processes of a part of the experiments each, side by side, against one of them.
double apart(std::int64_t processes) {
  const auto each = static_cast<std::int64_t>(kExperiments) / processes;
  std::string all;
  for (std::int64_t i = 0; i < processes; ++i) {
    all += fmt::format("{} --part {} {} & ", own_program(), 1 + i * each, (i + 1) * each);
  }
  return least_of_shell(all + "wait") / least_of_shell(fmt::format("{} --part 1 {}", own_program(), each));
}

/// Numbers that stay in registers.
void add_and_shift() {
  constexpr std::uint64_t kSteps = 200'000'000;
  std::uint64_t number = 1;
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    number ^= number << 13U;
    number ^= number >> 7U;
    number += i;
    benchmark::DoNotOptimize(number);
  }
}

/// Larger than a core's own caches.
void copy_much() {
  constexpr std::size_t kBytes = std::size_t{8} << 20U;
  constexpr int kTimes = 100;
  std::vector<char> from(kBytes, 'a');
  std::vector<char> to(kBytes, 'b');
  for (int i = 0; i < kTimes; ++i) {
    std::copy(from.begin(), from.end(), to.begin());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
}

/// How much longer it takes where so many threads do it at a time.
double beside(std::uint32_t threads, const std::function<void()>& work) {
  const auto least_of = [&](std::uint32_t count) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      best = std::min(best, seconds_of([&] {
                        std::vector<std::jthread> all;
                        for (std::uint32_t i = 0; i < count; ++i) {
                          all.emplace_back(work);
                        }
                      }));
    }
    return best;
  };
  return least_of(threads) / least_of(1);
}

void independent(benchmark::State& state) {
  const Plan plan = independent_plan();
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  static const Spent kOne = least(plan, 1);
  Spent several;
  for ([[maybe_unused]] const auto _ : state) {
    several = least(plan, threads);
    state.SetIterationTime(several.seconds);
  }
  const double all = several.seconds * threads;
  state.counters["speed_up"] = kOne.seconds / several.seconds;
  state.counters["efficiency"] = kOne.seconds / all;
  state.counters["experiments_per_second"] = kExperiments / several.seconds;
  state.counters["apart"] = apart(state.range(0));
  const double alu = beside(threads, add_and_shift);
  state.counters["alu"] = alu;
  state.counters["of_alu"] = kOne.seconds / all * alu;
  state.counters["copy"] = beside(threads, copy_much);
  const Processor& used = several.processor;
  state.counters["user"] = used.user / kOne.processor.user;
  state.counters["system"] = used.system / (used.user + used.system);
  state.counters["faults"] = used.faults / kExperiments;
  state.counters["idle"] = 1 - (used.user + used.system) / all;
  state.counters["before_ms"] = several.before * kMilliseconds;
  state.counters["after_ms"] = several.after * kMilliseconds;
}
/// 2, 4, 8 … and all cores.
void thread_counts(benchmark::internal::Benchmark* bench) {
  const auto cores = static_cast<std::int64_t>(usable_cores());
  for (std::int64_t threads = 2; threads < cores; threads *= 2) {
    bench->Arg(threads);
  }
  bench->Arg(std::max<std::int64_t>(cores, 2));
}
BENCHMARK(independent)->Apply(thread_counts)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void resume(benchmark::State& state) {
  const test::TemporaryFolder folder;
  const Plan plan(parse_sweep(packings_text(kFinished), "bench.toml", ""));
  const Work nothing{[](std::span<const experiment::Settings> complete, Accelerator*, Progress*) {
                       return std::vector<experiment::Outcome>(complete.size());
                     },
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
/// As tests have it: as root, on fewer cores than ranks, on a machine without a network.
std::string launch(std::uint32_t ranks) {
  return fmt::format("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " RAYREPLAY_MPIEXEC
                     " --oversubscribe --bind-to none -n {} ",
                     ranks);
}

std::uint32_t mpi_ranks() {
  return std::max(2U, usable_cores());
}

/// One rank, in the folder that all share: rank 0 writes to `file` how long the sweep took, joining included.
void work_as_rank(const std::string& file) {
  const std::unique_ptr<MpiSession> session = MpiSession::begin(false);
  const Plan plan = independent_plan();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const std::filesystem::path database = std::filesystem::path(file).parent_path() / "ranks.db";
  const bool leads = session->rank() == 0;
  const Clock::time_point start = Clock::now();
  experiment::Evaluator evaluator(experiment::EvaluatorOptions{});
  RunnerOptions options;
  options.threads = 1;
  options.team = session.get();
  std::unique_ptr<ResultsWriter> results;
  options.finished = agree_on_sweep(*session, plan, [&] {
    results = std::make_unique<ResultsWriter>(database, about_of(plan), true);
    return results->finished(false);
  });
  in_step(session.get(), [&] {
    if (!leads) {
      results = std::make_unique<ResultsWriter>(rank_database(database, session->rank()), about_of(plan), true);
    }
    const SweepReport report = run_sweep(plan, evaluator, *results, options);
    if (leads && (report.standing.failed > 0 || report.standing.done != plan.runs())) {
      throw std::runtime_error("the sweep did not succeed");
    }
    if (!leads) {
      results.reset();
    }
    return Texts{};
  });
  if (leads) {
    join_rank_databases(*results, database, about_of(plan), false);
    results.reset();
    std::ofstream(file) << seconds_between(start, Clock::now());
  }
}

void mpi_work(benchmark::State& state) {
  const test::TemporaryFolder folder;
  const Plan plan = independent_plan();
  const std::string file = (folder / "seconds").string();
  double threads = 0;
  double ranks = std::numeric_limits<double>::infinity();
  for ([[maybe_unused]] const auto _ : state) {
    threads = least(plan, mpi_ranks()).seconds;
    for (int round = 0; round < kRounds; ++round) {
      shell(launch(mpi_ranks()) + own_program() + " --rank " + file);
      double seconds = 0;
      if (!(std::ifstream(file) >> seconds)) {
        throw std::runtime_error("rank 0 does not say how long it took");
      }
      ranks = std::min(ranks, seconds);
    }
    state.SetIterationTime(ranks);
  }
  state.counters["ranks"] = mpi_ranks();
  state.counters["ratio"] = ranks / threads;
}
BENCHMARK(mpi_work)->Name("mpi/work")->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void mpi_command(benchmark::State& state) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("s.toml", independent_text());
  const std::string sweep = fmt::format("{} sweep {} --store none --restart -o {} 2>/dev/null", RAYREPLAY_COMMAND, file,
                                        (folder / "s.db").string());
  double threads = 0;
  double ranks = 0;
  double node = 0;
  for ([[maybe_unused]] const auto _ : state) {
    threads = least_of_shell(fmt::format("{} --threads {}", sweep, mpi_ranks()));
    ranks = least_of_shell(launch(mpi_ranks()) + sweep + " --mpi-workers rank --threads 1");
    node = least_of_shell(fmt::format("{}{} --threads {}", launch(mpi_ranks()), sweep, mpi_ranks()));
    state.SetIterationTime(ranks);
  }
  state.counters["ranks"] = mpi_ranks();
  state.counters["ratio"] = ranks / threads;
  state.counters["node"] = node / threads;
}
BENCHMARK(mpi_command)->Name("mpi/command")->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
#endif

}  // namespace

/// Programs of the benchmarks themselves; false where this is none.
bool did_part(int count, char** words) {
  if (count == 4 && std::string(words[1]) == "--part") {
    static_cast<void>(work_off(independent_plan(std::stoi(words[2]), std::stoi(words[3])), 1));
    return true;
  }
#ifdef RAYREPLAY_MPIEXEC
  if (count == 3 && std::string(words[1]) == "--rank") {
    work_as_rank(words[2]);
    return true;
  }
#endif
  return false;
}

}  // namespace rayreplay::sweep

int main(int count, char** words) {
  rayreplay::keep_freed_blocks();  // as the command does
  if (rayreplay::sweep::did_part(count, words)) {
    return 0;
  }
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
