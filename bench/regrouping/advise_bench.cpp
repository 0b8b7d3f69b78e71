// How many hints a minute does the advisor try, and what does one cost beside a plain replay of the same launch?
//
// The whole search is timed, from the launch in memory to the ranking: cut, survey of the fields, and for every
// candidate formula, keys, schedule and replay. Plain: simt::replay in the launch order, before each search; the best
// of all.
// `--events=N` (10 M without it), `--workers=N` (2), `--bits=N` (8), `--accesses=N` (0: loads of each closest hit, from
// records of 48 bytes by primitive and from a table by instance, so that the search ranks by transactions, too).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>

#include "base/split_mix.hpp"
#include "bench/simt/synthetic_launch.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/comparison/advise.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kObjects = 485;

struct Settings {
  std::uint64_t events = 10'000'000;
  std::size_t workers = 2;
  std::uint32_t bits = 8;
  std::uint32_t accesses = 0;  ///< of a closest hit
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// −1 … 1
float unit(std::uint64_t index) {
  return static_cast<float>(static_cast<double>(split_mix(kSeed, index) >> 40U) * (2.0 / 16777216.0) - 1.0);
}

/// Rays and hits of random places: what formulas read, beside what the replayer does.
void fill_in(trace::Launch& launch) {
  trace::Events& events = launch.data.events;
  trace::Rays& rays = launch.data.rays;
  const std::size_t count = events.kind.size();
  events.t.resize(count);
  events.instance.resize(count);
  events.primitive.resize(count);
  events.hit_kind.resize(count);
  for (std::size_t row = 0; row < count; ++row) {
    const std::uint64_t bits = split_mix(kSeed + 1, row);
    events.t[row] = 10 + 10 * unit(row);
    events.instance[row] = static_cast<std::uint32_t>(bits >> 32U) % 8;
    events.primitive[row] = static_cast<std::uint32_t>(bits) % kObjects;
    events.hit_kind[row] = (bits >> 60U) % 2 == 0 ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing;
  }
  std::uint64_t begun = 0;
  launch.data.ray_offset.assign(1, 0);
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    for (std::uint64_t row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
      begun += trace::begins_ray(events.kind[row]) ? 1U : 0U;
    }
    launch.data.ray_offset.push_back(begun);
  }
  std::uint64_t seed = 1000;
  for (trace::Column<float>* const column :
       {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y, &rays.direction_z}) {
    column->resize(begun);
    ++seed;
    for (std::uint64_t ray = 0; ray < begun; ++ray) {
      (*column)[ray] = unit(ray + (seed << 40U));
    }
  }
  rays.t_min.assign(begun, 0.001F);
  rays.t_max.assign(begun, 1e4F);
  rays.flags.assign(begun, 0);
  rays.cull_mask.assign(begun, 0xFF);
  rays.sbt_offset.assign(begun, 0);
  rays.sbt_stride.assign(begun, 0);
  rays.miss_index.assign(begun, 0);
}

/// The n-th load of a closest hit has a site of its own in each shader.
void add_loads(trace::Trace& trace, std::uint32_t loads) {
  trace::Launch& launch = trace.launches[0];
  trace::AccessSites& sites = trace.access_sites;
  for (std::uint32_t site = 0; site < trace.shaders.size() * loads; ++site) {
    sites.shader.push_back(static_cast<std::uint16_t>(site / loads));
    sites.instruction.push_back(site);
    for (auto* const column : {&sites.function, &sites.block, &sites.set, &sites.element}) {
      column->push_back(0);
    }
    sites.kind.push_back(trace::AccessKind::Load);
    sites.space.push_back(trace::AccessSpace::Descriptor);
    sites.binding.push_back(site % loads % 2);
    sites.bytes.push_back(16);
  }
  const trace::ThreadData& data = launch.data;
  trace::Accesses accesses;
  accesses.offset.push_back(0);
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      if (data.events.kind[row] != trace::EventKind::ClosestHit) {
        continue;
      }
      for (std::uint32_t load = 0; load < loads; ++load) {
        accesses.event.push_back(static_cast<std::uint32_t>(row + 1 - data.event_offset[thread]));
        accesses.site.push_back(data.events.shader[row] * loads + load);
        accesses.address.push_back(load % 2 == 0 ? std::uint64_t{data.events.primitive[row]} * 48 + load / 2 % 3 * 16
                                                 : std::uint64_t{data.events.instance[row]} * 256 + load / 2 * 16);
        accesses.group.push_back(static_cast<std::uint32_t>(accesses.group.size()));
      }
    }
    accesses.offset.push_back(accesses.size());
  }
  launch.data.accesses = std::move(accesses);
}

void measure(benchmark::State& state, const trace::Trace& trace, const Settings& settings) {
  experiment::AdviseOptions options;
  options.bits = settings.bits;
  options.candidates = static_cast<std::uint32_t>(state.range(0));
  if (settings.accesses > 0) {
    options.addresses.emplace();
  }
  const trace::Launch& launch = trace.launches[0];
  const experiment::Resolved configuration = experiment::resolve({}, trace);
  const auto order =
      scheduler::LaunchOrders::create(configuration.order).model->assign(launch, configuration.warp_size);
  double plain = std::numeric_limits<double>::infinity();
  double search = plain;
  std::uint64_t tried = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double start = now();
    benchmark::DoNotOptimize(simt::replay(launch, trace.shaders, order).total.warp_events);
    const double middle = now();
    const experiment::AdviseResult result = experiment::advise(trace, configuration, order, options);
    const double end = now();
    plain = std::min(plain, middle - start);
    search = std::min(search, end - middle);
    tried = result.evaluated + result.rejected;
    state.SetIterationTime(end - middle);
  }
  state.counters["per_minute"] = 60 * static_cast<double>(tried) / search;
  state.counters["of_plain"] = search / static_cast<double>(tried) / plain;
  fmt::print(
      "{:.0f} M events, {} candidates in {:.2f} s: {:.0f} a minute; one takes {:.2f} plain replays of {:.3f} s\n",
      static_cast<double>(launch.data.events.size()) / 1e6, tried, search, 60 * static_cast<double>(tried) / search,
      search / static_cast<double>(tried) / plain, plain);
}

}  // namespace
}  // namespace rayreplay

int main(int argc, char** argv) {
  using namespace rayreplay;
  Settings settings;
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto number = [&](std::string_view name) { return std::strtoull(argv[i] + name.size(), nullptr, 10); };
    if (argument.starts_with("--events=")) {
      settings.events = number("--events=");
    } else if (argument.starts_with("--workers=")) {
      settings.workers = std::max<std::size_t>(number("--workers="), 1);
    } else if (argument.starts_with("--bits=")) {
      settings.bits = static_cast<std::uint32_t>(number("--bits="));
    } else if (argument.starts_with("--accesses=")) {
      settings.accesses = static_cast<std::uint32_t>(std::min<std::uint64_t>(number("--accesses="), 64));
    } else {
      fmt::print(stderr, "unknown option {}; there are --events=N, --workers=N, --bits=N and --accesses=N\n", argument);
      return 1;
    }
  }
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, settings.workers);
  trace::Trace trace;
  {
    bench::SyntheticLaunch made = bench::make_launch(bench::Workload::Weekend, settings.events, kSeed);
    trace.shaders = std::move(made.shaders);
    fill_in(made.launch);
    trace.launches.push_back(std::move(made.launch));
    if (settings.accesses > 0) {
      add_loads(trace, settings.accesses);
    }
  }
  benchmark::RegisterBenchmark("advise", [&](benchmark::State& state) { measure(state, trace, settings); })
      ->ArgName("candidates")
      ->Arg(16)
      ->Arg(64)
      ->Arg(256)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
