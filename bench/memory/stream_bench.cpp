// How fast are access streams made and coalesced, on one core?
//
// generation/*: the streams of a captured launch, against tracing its rays alone (WarpTraversal::trace of the same
// groups of rays with steps and accesses, shaders answered from the trace), in turn; `ratio` is streams' time over
// tracing's. The rows differ in what is asked for. coalesce/*: the launch's instructions, and made ones, against a twin
// that sorts (line, lane) pairs. Times are processor seconds of the fastest of several rounds.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/reader.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "traversal/observed.hpp"

namespace rayreplay {
namespace {

using memory::Instructions;
using memory::WarpStream;

double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Input {
  explicit Input(const std::string& name)
      : trace(trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + name + ".rrt")),
        structure(bvh::build_bvh(trace.scene, trace.launches[0].tlas, name)) {
    const auto& offset = trace.launches[0].data.ray_offset;
    std::vector<std::uint32_t> threads;
    for (std::uint32_t thread = 0; thread < trace.launches[0].data.threads(); ++thread) {
      threads.push_back(thread);
    }
    observed = traversal::observe(trace.launches[0], threads);
    first_ray.push_back(0);
    for (std::uint32_t first = 0; first < threads.size(); first += 32) {
      const auto end = std::min<std::size_t>(first + 32, threads.size());
      std::uint64_t most = 0;
      for (std::size_t thread = first; thread < end; ++thread) {
        most = std::max(most, offset[thread + 1] - offset[thread]);
      }
      for (std::uint64_t k = 0; k < most; ++k) {
        for (std::size_t thread = first; thread < end; ++thread) {
          if (k < offset[thread + 1] - offset[thread]) {
            places.push_back(offset[thread] + k);
            rays.push_back(observed.rays[places.back()]);
          }
        }
        first_ray.push_back(places.size());
      }
    }
    thread_at = threads;
    thread_at.resize((threads.size() + 31) / 32 * 32, 0xFFFF'FFFFU);
  }

  trace::Trace trace;
  bvh::Bvh structure;
  traversal::Observed observed;
  std::vector<std::uint64_t> places, first_ray;
  std::vector<traversal::Ray> rays;
  std::vector<std::uint32_t> thread_at;
};

double trace_alone(const Input& input) {
  static const auto model = traversal::WarpTraversals::create("while-while").model;
  const double start = now();
  const traversal::ObservedShaders shaders(input.observed, input.places);
  // As many rays at once as a chunk of the source has, so that logs stay in the caches.
  for (std::size_t group = 0; group + 1 < input.first_ray.size(); group += 64) {
    const std::size_t end = std::min(group + 64, input.first_ray.size() - 1);
    const auto result =
        model->trace(input.structure, input.rays, std::span(input.first_ray).subspan(group, end - group + 1),
                     {.counters = false, .accesses = true, .shaders = &shaders});
    benchmark::DoNotOptimize(result.accesses.data());
  }
  return now() - start;
}

void generate(benchmark::State& state, const Input& input, const memory::StreamOptions& options) {
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  const auto source =
      memory::make_launch_source(input.trace, input.trace.launches[0], input.structure, input.thread_at, options);
  constexpr std::uint32_t kItems = 256;
  std::vector<WarpStream> streams(kItems);
  double ours = std::numeric_limits<double>::infinity();
  double tracing = ours;
  double instructions = 0;
  double lanes = 0;
  double transactions = 0;
  for (auto round : state) {
    instructions = lanes = transactions = 0;
    double seconds = 0;
    for (std::uint32_t first = 0; first < source->items(); first += kItems) {
      std::vector<std::uint32_t> items;
      for (std::uint32_t i = first; i < std::min(first + kItems, source->items()); ++i) {
        items.push_back(i);
      }
      const double start = now();
      source->generate(items, std::span(streams).first(items.size()));
      seconds += now() - start;
      for (std::size_t i = 0; i < items.size(); ++i) {
        instructions += static_cast<double>(streams[i].instructions());
        transactions += static_cast<double>(streams[i].transactions.size());
        lanes += static_cast<double>(streams[i].requests.size());
      }
    }
    ours = std::min(ours, seconds);
    tracing = std::min(tracing, trace_alone(input));
  }
  state.counters["Minst/s"] = instructions / ours / 1e6;
  state.counters["Mtransactions/s"] = transactions / ours / 1e6;
  state.counters["Mrequests/s"] = lanes / ours / 1e6;
  state.counters["ratio"] = ours / tracing;
}

/// The obvious way: (line, lane) pairs, sorted.
std::size_t sorted_pairs(const Instructions& from, std::uint32_t line_bytes, std::vector<memory::Transaction>& out) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs;
  out.clear();
  for (const memory::Instruction& row : from.rows) {
    pairs.clear();
    for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(std::popcount(row.mask)); ++lane) {
      const std::uint64_t address = from.address[row.first + lane];
      for (std::uint64_t line = address / line_bytes; line <= (address + row.bytes - 1) / line_bytes; ++line) {
        pairs.emplace_back(line, lane);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (i == 0 || pairs[i].first != pairs[i - 1].first) {
        out.emplace_back();
        out.back().line = pairs[i].first;
      }
      ++out.back().lanes;
    }
  }
  return out.size();
}

Instructions made(bool coherent, std::size_t count) {
  Instructions out;
  for (std::size_t i = 0; i < count; ++i) {
    out.rows.push_back({0xFFFF'FFFFU, static_cast<std::uint32_t>(out.address.size()), coherent ? 4U : 64U,
                        memory::DataKind::Node, false});
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t random = split_mix(1, coherent ? i : i * 32 + lane) >> 40U;
      out.address.push_back(random * 64 + (coherent ? lane * 4 : 0));
      out.element.push_back(static_cast<std::uint32_t>(random));
      out.thread.push_back(lane);
    }
  }
  return out;
}

/// All instructions of a launch.
Instructions launched(const Input& input) {
  memory::StreamOptions options;
  options.coalescing.keep_raw = true;
  const auto source =
      memory::make_launch_source(input.trace, input.trace.launches[0], input.structure, input.thread_at, options);
  Instructions all;
  std::vector<WarpStream> stream(1);
  for (std::uint32_t item = 0; item < source->items(); ++item) {
    source->generate(std::span(&item, 1), stream);
    const Instructions& raw = stream[0].raw;
    for (memory::Instruction row : raw.rows) {
      row.first += static_cast<std::uint32_t>(all.address.size());
      all.rows.push_back(row);
    }
    all.address.insert(all.address.end(), raw.address.begin(), raw.address.end());
    all.element.insert(all.element.end(), raw.element.begin(), raw.element.end());
    all.thread.insert(all.thread.end(), raw.thread.begin(), raw.thread.end());
  }
  return all;
}

/// As a warp's stream is coalesced: some thousand instructions at once, into memory that is used again.
std::vector<Instructions> cut(const Instructions& from) {
  std::vector<Instructions> parts;
  for (std::size_t first = 0; first < from.rows.size(); first += 1000) {
    Instructions& part = parts.emplace_back();
    for (std::size_t i = first; i < std::min(first + 1000, from.rows.size()); ++i) {
      memory::Instruction row = from.rows[i];
      const auto begin = static_cast<std::ptrdiff_t>(row.first);
      const auto lanes = static_cast<std::ptrdiff_t>(std::popcount(row.mask));
      row.first = static_cast<std::uint32_t>(part.address.size());
      part.rows.push_back(row);
      const auto copy = [&](const auto& a, auto& b) {
        b.insert(b.end(), a.begin() + begin, a.begin() + begin + lanes);
      };
      copy(from.address, part.address);
      copy(from.element, part.element);
      copy(from.thread, part.thread);
    }
  }
  return parts;
}

void coalesce(benchmark::State& state, const Instructions& all, const memory::CoalesceOptions& options) {
  const std::vector<Instructions> parts = cut(all);
  double ours = std::numeric_limits<double>::infinity();
  double twin = ours;
  WarpStream stream;
  std::vector<memory::Transaction> pairs;
  std::size_t transactions = 0;
  std::size_t expected = 0;
  for (auto round : state) {
    transactions = expected = 0;
    double start = now();
    for (const Instructions& part : parts) {
      stream.first.clear();
      stream.transactions.clear();
      stream.requests.clear();
      memory::coalesce(part, options, stream);
      transactions += stream.transactions.size();
    }
    ours = std::min(ours, now() - start);
    start = now();
    for (const Instructions& part : parts) {
      expected += sorted_pairs(part, options.line_bytes, pairs);
    }
    twin = std::min(twin, now() - start);
  }
  if (options.coalesce && transactions != expected) {
    state.SkipWithError("the twin finds another number of transactions");
    return;
  }
  state.counters["Minst/s"] = static_cast<double>(all.rows.size()) / ours / 1e6;
  state.counters["Mlanes/s"] = static_cast<double>(all.address.size()) / ours / 1e6;
  state.counters["transactions/inst"] = static_cast<double>(transactions) / static_cast<double>(all.rows.size());
  state.counters["times_twin"] = twin / ours;
}

void add_rows() {
  for (const char* name : {"bunny", "one-weekend", "teapot-alpha"}) {
    static std::vector<std::unique_ptr<Input>> inputs;
    const Input& input = *inputs.emplace_back(std::make_unique<Input>(name));
    const auto row = [&](const char* what, const memory::StreamOptions& options) {
      benchmark::RegisterBenchmark(("generation/" + std::string(name) + "/" + what).c_str(),
                                   [&input, options](benchmark::State& state) { generate(state, input, options); })
          ->Unit(benchmark::kMillisecond)
          ->Iterations(5);
    };
    memory::StreamOptions options;
    row("all", options);
    options.coalescing.requests = false;
    row("no-requests", options);
    options.coalescing.coalesce = false;
    row("no-requests-not-coalesced", options);
    options = {};
    options.payload_bytes = options.record_bytes = options.pixel_bytes = 0;
    row("structure-alone", options);
    options = {};
    options.stack_entries = 4;
    row("stack-spills", options);
    static std::vector<std::unique_ptr<Instructions>> streams;
    const Instructions& all = *streams.emplace_back(std::make_unique<Instructions>(launched(input)));
    benchmark::RegisterBenchmark(("coalesce/" + std::string(name)).c_str(),
                                 [&all](benchmark::State& state) { coalesce(state, all, {}); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(7);
  }
  static const Instructions coherent = made(true, 100'000);
  static const Instructions incoherent = made(false, 50'000);
  for (const bool requests : {true, false}) {
    const std::string end = requests ? "" : "/no-requests";
    benchmark::RegisterBenchmark(
        ("coalesce/consecutive" + end).c_str(),
        [requests](benchmark::State& state) { coalesce(state, coherent, {.requests = requests}); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(7);
    benchmark::RegisterBenchmark(
        ("coalesce/random" + end).c_str(),
        [requests](benchmark::State& state) { coalesce(state, incoherent, {.requests = requests}); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(7);
  }
}

}  // namespace
}  // namespace rayreplay

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  rayreplay::add_rows();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
