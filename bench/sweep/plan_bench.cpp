// How long a plan of 100,000 combinations, of which 83,328 are left, takes on one core: five factors, two axes zipped,
// an exclusion and two conditions. The peer is what can hardly be left out: the same loops with the same numbers in
// them, rows written to a table, one hash a row, and the hashes sorted, to know which rows share a stage.
//
//   cache      grouped by stream, conditions on axes alone
//   inherited  a condition on a key that takes its value from an axis: completed once for each of its values
//   simt       cheap outputs, cut for many workers
//   settings   what a worker does next: the settings of every run, completed (not part of the plan)
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/split_mix.hpp"
#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::array<std::uint32_t, 5> kSizes = {50, 40, 5, 2, 5};

std::string sweep(const std::string& output, const std::string& condition) {
  return "exclude = [{ \"cache.l1.ways\" = 4, \"machine.sms\" = 3 }]\n"
         "where = [\"" +
         condition + "\", \"machine.sms * cache.l1.ways >= 2\"]\n[experiment]\ntrace = \"t.rrt\"\noutputs = \"" +
         output +
         "\"\n[axes]\n\"machine.sms\" = { from = 1, to = 50, step = 1 }\n"
         "\"machine.l1_bytes\" = { from = \"4KiB\", to = \"160KiB\", step = \"4KiB\" }\n"
         "\"cache.l1.ways\" = [1, 2, 4, 8, 16]\n\"cache.l2.ways\" = [4, 8]\n"
         "[[zip]]\n\"cache.l2.bytes\" = [\"64KiB\", \"128KiB\", \"256KiB\", \"512KiB\", \"1MiB\"]\n"
         "\"warp_size\" = [8, 16, 32, 16, 8]\n";
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void nested_loops() {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint64_t> hashes;
  std::array<std::uint32_t, kSizes.size()> row{};
  for (row[0] = 0; row[0] < kSizes[0]; ++row[0]) {
    for (row[1] = 0; row[1] < kSizes[1]; ++row[1]) {
      for (row[2] = 0; row[2] < kSizes[2]; ++row[2]) {
        for (row[3] = 0; row[3] < kSizes[3]; ++row[3]) {
          for (row[4] = 0; row[4] < kSizes[4]; ++row[4]) {
            std::uint64_t hash = 0;
            for (const std::uint32_t value : row) {
              rows.push_back(value);
              hash = split_mix_finish(hash + value + 1);
            }
            hashes.push_back(hash);
          }
        }
      }
    }
  }
  std::sort(hashes.begin(), hashes.end());
  benchmark::DoNotOptimize(rows.data());
  benchmark::DoNotOptimize(hashes.data());
}

void plan_100k(benchmark::State& state, const std::string& output, const std::string& condition) {
  const Definition definition = parse_sweep(sweep(output, condition), "s.toml", "");
  double planned = 0;
  double peer = 0;
  std::uint64_t runs = 0;
  std::uint64_t units = 0;
  for ([[maybe_unused]] auto iteration : state) {
    peer += seconds_of(nested_loops);
    const double seconds = seconds_of([&] {
      const Plan plan(definition);
      runs = plan.runs();
      units = plan.units().size();
    });
    planned += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["runs"] = static_cast<double>(runs);
  state.counters["units"] = static_cast<double>(units);
  state.counters["ratio"] = planned / peer;
}

void settings_100k(benchmark::State& state) {
  const Plan plan(parse_sweep(sweep("cache", "machine.sms > 0"), "s.toml", ""));
  for ([[maybe_unused]] auto iteration : state) {
    const double seconds = seconds_of([&] {
      for (std::uint64_t run = 0; run < plan.runs(); ++run) {
        benchmark::DoNotOptimize(experiment::complete(plan.settings(run)));
      }
    });
    state.SetIterationTime(seconds);
  }
  state.counters["runs"] = static_cast<double>(plan.runs());
}

BENCHMARK_CAPTURE(plan_100k, cache, "cache", "machine.l1_bytes <= cache.l2.bytes")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_100k, inherited, "cache", "cache.l1.bytes <= cache.l2.bytes")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_100k, simt, "simt", "machine.l1_bytes <= cache.l2.bytes")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(settings_100k)->Name("settings_100k")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rayreplay::sweep

BENCHMARK_MAIN();
