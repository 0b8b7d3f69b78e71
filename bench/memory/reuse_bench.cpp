// Reuse distances a second: every engine on four streams, and 80 SMs with their L2 in one pass; and the error of
// sampled miss-ratio curves.
//
// Each round runs the limits ("table update only": the time of the last access kept in an array, in a hash, or in the
// engines' own table of lines, and nothing else), the splay tree and the other engines on the same stream, one after
// the other on one thread; rates come from the least processor time of all rounds, which neighbours on the machine
// disturb least. Reported: Mref/s, the ratio to our own splay tree, the shares of the limits reached, and the memory
// that an engine holds at the end by access. Before a figure is taken every exact engine's distances are compared with
// the splay tree's. RAYREPLAY_BENCH_SCALE (default 1) scales the streams: 20 M references, uniform 5 M;
// RAYREPLAY_BENCH_ROUNDS (default 3) the rounds. Errors are means over ten seeds and 100 sizes from 64 lines to all of
// them, of the streams and of two captured launches, whose size is their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "bench/memory/bench_time.hpp"
#include "sim/memory/reuse/engines/line_table.hpp"
#include "sim/memory/reuse/histogram.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "sim/memory/reuse/sample_error.hpp"
#include "tests/support/reuse_captured.hpp"
#include "tests/support/reuse_streams.hpp"

namespace {

using namespace rayreplay;
using memory::ReuseEngines;
using memory::ReuseStack;
using test::ReuseStream;

using bench::from_environment;
using bench::time_of;

const ReuseStream& stream_of(const std::string& name) {
  static std::map<std::string, ReuseStream> kept;
  auto it = kept.find(name);
  if (it == kept.end()) {
    kept.clear();  // one at a time
    const double scale = from_environment("RAYREPLAY_BENCH_SCALE", 1);
    const auto size = static_cast<std::size_t>(20e6 * scale);
    constexpr std::uint32_t kLines = 1U << 20U;
    ReuseStream stream = name == "coherent"     ? test::coherent_stream(size, 20, 1)
                         : name == "incoherent" ? test::incoherent_stream(size, 20, 2)
                         : name == "zipf"       ? test::zipf_stream(size, kLines, 0.99, 3)
                                                : test::uniform_stream(size / 4, kLines, 4);
    it = kept.emplace(name, std::move(stream)).first;
  }
  return it->second;
}

/// Both limits: when was this line touched last?
std::uint64_t array_alone(const ReuseStream& stream) {
  std::vector<std::uint32_t> last(stream.lines);
  std::uint64_t sum = 0;
  std::uint32_t now = 0;
  const std::size_t size = stream.line.size();
  for (std::size_t i = 0; i < size; ++i) {
    __builtin_prefetch(&last[stream.line[std::min(i + 32, size - 1)]], 1);
    std::uint32_t& time = last[stream.line[i]];
    sum += time;
    time = ++now;
  }
  return sum;
}

std::uint64_t hash_alone(const ReuseStream& stream) {
  struct Entry {
    std::uint64_t key = 0;  ///< line + 1
    std::uint64_t time = 0;
  };
  const std::size_t size = stream.line.size();
  const std::size_t mask = (std::size_t{1} << 21U) - 1;  // half full at most
  std::vector<Entry> entries(mask + 1);
  const auto home = [&](std::uint64_t line) { return (line * kSplitMixGamma >> 43U) & mask; };
  std::uint64_t sum = 0;
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < size; ++i) {
    __builtin_prefetch(&entries[home(stream.line[std::min(i + 32, size - 1)])], 1);
    const std::uint64_t key = stream.line[i] + 1;
    std::size_t at = home(stream.line[i]);
    while (entries[at].key != key && entries[at].key != 0) {
      at = (at + 1) & mask;
    }
    entries[at].key = key;
    sum += entries[at].time;
    entries[at].time = ++now;
  }
  return sum;
}

/// The engines' own table: the same question, of lines that may be any 64-bit numbers.
std::uint64_t line_table_alone(const ReuseStream& stream) {
  constexpr std::size_t kChunk = 1024;
  memory::LineTable table;
  std::array<std::uint32_t, kChunk> before;
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < stream.line.size(); at += kChunk) {
    const std::size_t n = std::min(kChunk, stream.line.size() - at);
    table.exchange(std::span(stream.line).subspan(at, n), static_cast<std::uint32_t>(at + 1), before.data());
    sum += before[n - 1];
  }
  return sum;
}

constexpr std::size_t kCall = std::size_t{1} << 16U;  ///< accesses handed over at once

/// Bytes that the stack holds at the end.
std::uint64_t run_engine(const std::string& spec, const ReuseStream& stream, std::vector<std::uint32_t>& out,
                         std::size_t call = kCall) {
  const std::unique_ptr<ReuseStack> stack = ReuseEngines::create(spec).model->make();
  for (std::size_t at = 0; at < stream.line.size(); at += call) {
    const std::size_t n = std::min(call, stream.line.size() - at);
    stack->distances(std::span(stream.line).subspan(at, n), std::span(out).subspan(at, n));
  }
  return stack->memory_bytes();
}

void engines(benchmark::State& state, const std::string& name) {
  const ReuseStream& stream = stream_of(name);
  const std::size_t size = stream.line.size();
  const auto million = static_cast<double>(size) * 1e-6;
  std::vector<std::uint32_t> expected(size);
  std::vector<std::uint32_t> out(size);
  std::map<std::string, double> best;
  std::map<std::string, std::uint64_t> bytes;
  const auto keep = [&](const std::string& what, double time) {
    const auto [it, fresh] = best.emplace(what, time);
    it->second = std::min(it->second, time);
    (void)fresh;
  };
  const std::vector<std::string> names = {"bitmap", "offline", "sampled"};
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  for (auto _ : state) {
    keep("array alone", time_of([&] { benchmark::DoNotOptimize(array_alone(stream)); }));
    keep("hash alone", time_of([&] { benchmark::DoNotOptimize(hash_alone(stream)); }));
    keep("line table alone", time_of([&] { benchmark::DoNotOptimize(line_table_alone(stream)); }));
    keep("splay", time_of([&] { bytes["splay"] = run_engine("splay", stream, expected); }));
    for (const std::string& engine : names) {
      const std::size_t call = engine == "offline" ? size : kCall;
      keep(engine, time_of([&] { bytes[engine] = run_engine(engine, stream, out, call); }));
      if (engine != "sampled" && out != expected) {
        throw std::runtime_error(engine + " differs from the splay tree on " + name);
      }
    }
    keep("histogram", time_of([&] {
           memory::ReuseHistogram histogram;
           histogram.add(expected);
           benchmark::DoNotOptimize(histogram.cold());
         }));
  }
  for (const auto& [what, time] : best) {
    state.counters[what] = million / time;
  }
  for (const auto& [what, held] : bytes) {
    state.counters[fmt::format("{}, bytes/access", what)] = static_cast<double>(held) / static_cast<double>(size);
  }
  state.counters["bitmap/splay"] = best.at("splay") / best.at("bitmap");
  state.counters["bitmap/array"] = best.at("array alone") / best.at("bitmap");
  state.counters["bitmap/hash"] = best.at("hash alone") / best.at("bitmap");
  state.counters["bitmap/line table"] = best.at("line table alone") / best.at("bitmap");
}

/// An L1 stack for each SM and one for the L2, of every access, as an analysis has them: the stream comes in blocks.
struct ManyStacks {
  explicit ManyStacks(const std::string& spec) {
    const auto created = ReuseEngines::create(spec);
    for (std::size_t sm = 0; sm <= test::kStreamSms; ++sm) {
      stacks.push_back(created.model->make());
    }
  }
  void take(std::span<const std::uint64_t> lines, std::span<const std::uint8_t> sms) {
    for (auto& part : parts) {
      part.clear();
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      parts[sms[i]].push_back(lines[i]);
    }
    parts.back().assign(lines.begin(), lines.end());
    // The L2's part is as long as all others together: it starts first.
    oneapi::tbb::parallel_for(std::size_t{0}, stacks.size(), [&](std::size_t i) {
      const std::size_t which = stacks.size() - 1 - i;
      outs[which].resize(parts[which].size());
      stacks[which]->distances(parts[which], outs[which]);
      histograms[which].add(outs[which]);
    });
  }
  std::vector<std::unique_ptr<ReuseStack>> stacks;
  std::vector<std::vector<std::uint64_t>> parts = std::vector<std::vector<std::uint64_t>>(test::kStreamSms + 1);
  std::vector<std::vector<std::uint32_t>> outs = std::vector<std::vector<std::uint32_t>>(test::kStreamSms + 1);
  std::vector<memory::ReuseHistogram> histograms = std::vector<memory::ReuseHistogram>(test::kStreamSms + 1);
};

void sms_and_l2(benchmark::State& state, const std::string& name) {
  const ReuseStream& stream = stream_of(name);
  const std::size_t size = stream.line.size();
  const auto million = static_cast<double>(size) * 1e-6;
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  const auto run = [&](const std::string& spec) {
    ManyStacks stacks(spec);
    for (std::size_t at = 0; at < size; at += kBlock) {
      const std::size_t n = std::min(kBlock, size - at);
      stacks.take(std::span(stream.line).subspan(at, n), std::span(stream.sm).subspan(at, n));
    }
    memory::ReuseHistogram all;
    for (const memory::ReuseHistogram& histogram : stacks.histograms) {
      all.merge(histogram);
    }
    return all;
  };
  double one_core = 1e30;
  double splay = 1e30;
  double all_cpu = 1e30;
  for (auto _ : state) {
    memory::ReuseHistogram a, b, c;
    {
      const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      one_core = std::min(one_core, time_of([&] { a = run("bitmap"); }));
      splay = std::min(splay, time_of([&] { b = run("splay"); }));
    }
    all_cpu = std::min(all_cpu, time_of([&] { c = run("bitmap"); }, CLOCK_PROCESS_CPUTIME_ID));
    if (!(a == b) || !(a == c)) {
      throw std::runtime_error("histograms differ");
    }
  }
  state.counters["bitmap"] = million / one_core;
  state.counters["splay"] = million / splay;
  state.counters["bitmap/splay"] = splay / one_core;
  state.counters["bitmap, all cores, a core"] = million / all_cpu;
}

/// Of one stream of lines: how far sampled miss-ratio curves are from the exact one, and how far they say they are.
void sampling_error(benchmark::State& state, const std::vector<std::uint64_t>& lines, double rate) {
  constexpr int kSeeds = 10;
  constexpr int kSizes = 100;
  std::vector<std::uint32_t> out(lines.size());
  const auto bitmap = ReuseEngines::create("bitmap").model->make();
  bitmap->distances(lines, out);
  memory::ReuseHistogram exact;
  exact.add(out);
  const auto ratio = [](const memory::ReuseHistogram& histogram, std::uint64_t size) {
    return static_cast<double>(histogram.misses(size)) / static_cast<double>(histogram.accesses());
  };
  double all = 0, resolved = 0, sizes_resolved = 0, worst = 0, unadjusted = 0, squares = 0, stated = 0;
  for (auto _ : state) {
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const auto engine = ReuseEngines::create(fmt::format("sampled:rate={},seed={}", rate, seed)).model;
      const auto stack = engine->make();
      stack->distances(lines, out);
      memory::ReuseHistogram sample;
      sample.add(out);
      const memory::ReuseHistogram curve = memory::adjusted(sample, engine->weight());
      double of_seed = 0;
      for (int i = 0; i < kSizes; ++i) {  // evenly by logarithm, from 64 lines to all of them
        const double range = std::log2(static_cast<double>(bitmap->live_lines()) / 64);
        const auto size = static_cast<std::uint64_t>(std::llround(64 * std::exp2(range * i / (kSizes - 1))));
        const double off = std::abs(ratio(curve, size) - ratio(exact, size));
        of_seed += off / kSizes;
        if (sample.accesses() > 0) {
          unadjusted += std::abs(ratio(sample, size) - ratio(exact, size)) / kSizes / kSeeds;
        }
        if (static_cast<double>(size) * rate >= 10) {
          const double standard = memory::standard_error(stack->parts(), engine->weight(), size);
          resolved += off;
          ++sizes_resolved;
          squares += off * off;
          stated += standard * standard;
        }
      }
      all += of_seed / kSeeds;
      worst = std::max(worst, of_seed);
    }
  }
  state.counters["mean absolute error"] = all;
  state.counters["worst seed"] = worst;
  state.counters["unadjusted"] = unadjusted;
  if (sizes_resolved > 0) {
    state.counters["from 10/rate lines on"] = resolved / sizes_resolved;
    state.counters["rms error"] = std::sqrt(squares / sizes_resolved);
    state.counters["rms standard error"] = std::sqrt(stated / sizes_resolved);
  }
}

constexpr std::array kRates = {0.1, 0.01, 0.001};

void report() {
  const auto rounds = static_cast<benchmark::IterationCount>(from_environment("RAYREPLAY_BENCH_ROUNDS", 3));
  for (const char* const name : {"coherent", "incoherent", "zipf", "uniform"}) {
    benchmark::RegisterBenchmark(("engines/" + std::string(name)).c_str(), engines, name)
        ->Iterations(rounds)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("80 SMs and L2/" + std::string(name)).c_str(), sms_and_l2, name)
        ->Iterations(rounds)
        ->Unit(benchmark::kMillisecond);
    for (const double rate : kRates) {
      benchmark::RegisterBenchmark(
          fmt::format("sampling error/{}/{}", name, rate).c_str(),
          [name, rate](benchmark::State& state) { sampling_error(state, stream_of(name).line, rate); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (const test::CapturedCase captured :
       {test::CapturedCase{"bunny", "wide-8", true, 128}, test::CapturedCase{"teapot-alpha", "binary", false, 128}}) {
    for (const double rate : kRates) {
      benchmark::RegisterBenchmark(
          fmt::format("sampling error/captured {}/{}", captured.trace, rate).c_str(),
          [captured, rate](benchmark::State& state) { sampling_error(state, captured_lines(captured).l2, rate); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  report();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
