// What experiments cost beside their stages, and what sharing stages saves.
//
//   kept/1, kept/1000   evaluate() of configurations whose results are all in memory, one a call and a thousand a call:
//                       us_each is the wall clock of one, cpu_us_each its thread's (goal: less than 50 us). Peer:
//                       completing the same settings (`of_complete`: times as long).
//   experiments/shared  64 experiments over one captured launch: 16 L1 sizes, 2 packings, 2 outputs, in one call of a
//   new
//                       evaluator; experiments/apart: each with an evaluator of its own, nothing stored. `of_apart`
//                       (how much of the time apart) needs both in one run, apart first.
#include <benchmark/benchmark.h>

#include <time.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine/evaluator.hpp"

namespace {

using rayreplay::experiment::complete;
using rayreplay::experiment::Evaluator;
using rayreplay::experiment::Outcome;
using rayreplay::experiment::Settings;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kConfigurations = 1000;
constexpr double kMicroseconds = 1e6;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of this thread: independent of the machine's other load.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void require(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.failure) {
      throw std::runtime_error(outcome.failure->info.what);
    }
  }
}

/// A thousand caches of one small workload, as they were asked for.
std::vector<Settings> asked_caches() {
  std::vector<Settings> asked;
  for (std::size_t i = 0; i < kConfigurations; ++i) {
    Settings settings;
    settings.set_text("workload=coherence", "bench");
    settings.set_text("outputs=simt,cache", "bench");
    settings.set_text("cache.l1.ways=" + std::to_string(1 + i % 50), "bench");
    settings.set_text("cache.l1.bytes=" + std::to_string(128 * (1 + i % 50) * (1 + i / 50)), "bench");
    asked.push_back(std::move(settings));
  }
  return asked;
}

void kept(benchmark::State& state) {
  const auto at_once = static_cast<std::size_t>(state.range(0));
  const std::vector<Settings> asked = asked_caches();
  const double start = thread_seconds();
  std::vector<Settings> settings;
  for (const Settings& one : asked) {
    settings.push_back(complete(one));
  }
  const double peer = thread_seconds() - start;
  Evaluator evaluator({});
  require(evaluator.evaluate(settings));
  double seconds = 0;
  std::size_t evaluated = 0;
  double own_seconds = 0;
  for (auto _ : state) {
    const auto begin = Clock::now();
    const double own_begin = thread_seconds();
    for (std::size_t i = 0; i < settings.size(); i += at_once) {
      benchmark::DoNotOptimize(evaluator.evaluate(std::span(settings).subspan(i, at_once)));
    }
    own_seconds += thread_seconds() - own_begin;
    seconds += seconds_since(begin);
    evaluated += settings.size();
  }
  const double each = seconds / static_cast<double>(evaluated);
  state.counters["us_each"] = each * kMicroseconds;
  const double own_each = own_seconds / static_cast<double>(evaluated);
  state.counters["cpu_us_each"] = own_each * kMicroseconds;
  state.counters["of_complete"] = own_each / (peer / kConfigurations);
}
BENCHMARK(kept)->Arg(1)->Arg(kConfigurations)->Unit(benchmark::kMillisecond);

std::vector<Settings> experiments() {
  std::vector<Settings> result;
  for (const char* packing : {"identity", "random"}) {
    for (const char* outputs : {"cache", "cache,simt"}) {
      for (std::size_t size = 1; size <= 16; ++size) {
        Settings settings;
        settings.set("trace", std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/bunny.rrt", "bench");
        settings.set_text(std::string("packing=") + packing, "bench");
        settings.set_text(std::string("outputs=") + outputs, "bench");
        settings.set_text("cache.l1.ways=8", "bench");
        settings.set_text("cache.l1.bytes=" + std::to_string(size * 8192), "bench");
        result.push_back(complete(settings));
      }
    }
  }
  return result;
}

double seconds_apart = 0;  // of one experiment

void experiments_apart(benchmark::State& state) {
  const std::vector<Settings> asked = experiments();
  double seconds = 0;
  std::size_t evaluated = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    for (const Settings& settings : asked) {
      Evaluator evaluator({});
      require(evaluator.evaluate({&settings, 1}));
    }
    seconds += seconds_since(start);
    evaluated += asked.size();
  }
  seconds_apart = seconds / static_cast<double>(evaluated);
  state.counters["ms_each"] = seconds_apart * 1e3;
}
BENCHMARK(experiments_apart)->Name("experiments/apart")->Iterations(1)->Unit(benchmark::kMillisecond);

void experiments_shared(benchmark::State& state) {
  const std::vector<Settings> asked = experiments();
  double seconds = 0;
  std::size_t evaluated = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    Evaluator evaluator({});
    require(evaluator.evaluate(asked));
    seconds += seconds_since(start);
    evaluated += asked.size();
  }
  const double each = seconds / static_cast<double>(evaluated);
  state.counters["ms_each"] = each * 1e3;
  if (seconds_apart > 0) {
    state.counters["of_apart"] = each / seconds_apart;
  }
}
BENCHMARK(experiments_shared)->Name("experiments/shared")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
