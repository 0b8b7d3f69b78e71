// The whole analysis of a stream: 80 L1s, one L2, sums by kind, SM, element and pixel; transactions a second a core.
//
// Streams are those of tests/support/reuse_streams.hpp, one transaction a reference: lanes 1, one sector of 4, a tenth
// stores, kinds in turn by line. Machine: 80 SMs, L1 32 KiB of 128-byte lines, 64 ways; L2 6 MiB, 16 ways; sectors of
// 32 bytes. `bare` is what the analysis is made of, without sums and order: accesses sorted by SM, each SM's cache and,
// where distances are wanted, its reuse stack, then the L2's, fed by what the L1s ask for, SM by SM. Everything on one
// thread, least processor time of all rounds; `all cores` is the rate by processor time of the process with as many
// threads as there are. In M transactions/s; `/bare` is the rate over that of the parts. RAYREPLAY_BENCH_SCALE
// (default 1) scales the streams, 4 M transactions; RAYREPLAY_BENCH_ROUNDS (default 3) the rounds.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/memory/bench_time.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/results/analysis.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/support/reuse_streams.hpp"

namespace {

using namespace rayreplay;
using memory::Analysis;
using memory::AnalysisOptions;
using memory::AnalysisResult;
using memory::DownAccess;
using memory::LineAccess;
using memory::TransactionBlock;

constexpr std::uint32_t kElements = 1U << 20U;
constexpr std::uint32_t kPixels = 1U << 20U;
constexpr std::size_t kBlock = std::size_t{1} << 16U;

using bench::from_environment;

/// Of all threads.
template <class Function>
double time_of(const Function& function) {
  return bench::time_of(function, CLOCK_PROCESS_CPUTIME_ID);
}

const std::vector<TransactionBlock>& blocks_of(const std::string& name) {
  static std::string kept;
  static std::vector<TransactionBlock> blocks;
  if (kept == name) {
    return blocks;
  }
  const auto size = static_cast<std::size_t>(4e6 * from_environment("RAYREPLAY_BENCH_SCALE", 1));
  const test::ReuseStream stream = name == "coherent"     ? test::coherent_stream(size, 20, 1)
                                   : name == "incoherent" ? test::incoherent_stream(size, 20, 2)
                                                          : test::zipf_stream(size, 1U << 20U, 0.99, 3);
  blocks.clear();
  for (std::size_t i = 0; i < size; ++i) {
    if (i % kBlock == 0) {
      blocks.emplace_back();
    }
    const std::uint64_t bits = split_mix(9, i);
    memory::Transaction one;
    one.line = stream.line[i];
    one.sm = stream.sm[i];
    one.sectors = static_cast<std::uint8_t>(1U << (bits & 3U));
    one.lanes = 1;
    one.kind = static_cast<memory::DataKind>(stream.line[i] % 4);
    one.flags = (bits >> 8U) % 10 == 0 ? memory::kStore : 0;
    blocks.back().transactions.push_back(one);
    blocks.back().requests.push_back(
        {static_cast<std::uint32_t>(stream.line[i] * 4 % kElements), static_cast<std::uint32_t>(i / 16 % kPixels)});
  }
  kept = name;
  return blocks;
}

AnalysisOptions machine() {
  AnalysisOptions options;
  options.sms = test::kStreamSms;
  options.l1 = {.bytes = 32 << 10, .line_bytes = 128, .ways = 64, .sector_bytes = 32};
  options.l2 = {.bytes = 6 << 20, .line_bytes = 128, .ways = 16, .sector_bytes = 32};
  return options;
}

std::uint64_t analyse(const AnalysisOptions& options, const std::vector<TransactionBlock>& blocks) {
  Analysis analysis(options);
  for (const TransactionBlock& block : blocks) {
    analysis.take(block);
  }
  const AnalysisResult result = analysis.finish();
  return result.levels[memory::kL1].counts.hits;
}

/// A cache with its stack.
struct Unit {
  std::unique_ptr<memory::Cache> cache;
  std::unique_ptr<memory::ReuseStack> stack;
  memory::ReuseHistogram histogram;
  std::vector<LineAccess> accesses;
  std::vector<std::uint64_t> lines;
  std::vector<std::uint32_t> hit, distances;
  std::vector<DownAccess> down;

  void run() {
    hit.resize(accesses.size());
    down.clear();
    if (stack != nullptr) {
      lines.resize(accesses.size());
      distances.resize(accesses.size());
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        lines[i] = accesses[i].line;
      }
      stack->distances(lines, distances);
      histogram.add(distances);
    }
    cache->access(accesses, {}, hit, &down);
    accesses.clear();
  }
};

std::uint64_t bare(const AnalysisOptions& options, bool distances, const std::vector<TransactionBlock>& blocks) {
  const auto l1 = memory::CacheModels::create(options.l1_model);
  const auto l2 = memory::CacheModels::create(options.l2_model);
  const auto engine = memory::ReuseEngines::create(options.reuse_engine);
  std::vector<Unit> units(options.sms + 1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool last = i == options.sms;
    units[i].cache = (last ? l2 : l1).model->make(last ? options.l2 : options.l1);
    units[i].stack = distances ? engine.model->make() : nullptr;
  }
  Unit& lower = units.back();
  for (std::size_t block = 0; block < blocks.size(); block += 2) {  // as many as a chunk has
    for (std::size_t part = block; part < std::min(block + 2, blocks.size()); ++part) {
      for (const memory::Transaction& one : blocks[part].transactions) {
        units[one.sm].accesses.push_back({one.line, one.sectors, (one.flags & memory::kStore) != 0});
      }
    }
    for (std::size_t sm = 0; sm < options.sms; ++sm) {
      units[sm].run();
      for (const DownAccess& access : units[sm].down) {
        lower.accesses.push_back({access.line, access.sectors, access.store});
      }
    }
    lower.run();
  }
  std::uint64_t hits = 0;
  for (std::size_t sm = 0; sm < options.sms; ++sm) {
    hits += units[sm].cache->counts().hits;
  }
  return hits;
}

void analysis(benchmark::State& state, const std::string& stream) {
  const std::vector<TransactionBlock>& blocks = blocks_of(stream);
  double million = 0;
  for (const TransactionBlock& block : blocks) {
    million += static_cast<double>(block.transactions.size()) * 1e-6;
  }
  std::map<std::string, double> best;
  const auto keep = [&](const std::string& what, double time) {
    const auto it = best.emplace(what, time).first;
    it->second = std::min(it->second, time);
  };
  AnalysisOptions plain = machine();
  plain.distances = false;
  const AnalysisOptions split = machine();
  AnalysisOptions all = machine();
  all.elements = true;
  all.element_count = kElements;
  all.pixels = kPixels;
  AnalysisOptions published = machine();
  published.l1_model = "sdcm";
  published.l2_model = "sdcm";
  published.l2_feed = memory::L2Feed::All;
  for (auto _ : state) {
    std::uint64_t expected = 0;
    std::uint64_t hits = 0;
    {
      const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      keep("bare", time_of([&] { expected = bare(plain, false, blocks); }));
      keep("analysis", time_of([&] { hits = analyse(plain, blocks); }));
      keep("bare, distances", time_of([&] { benchmark::DoNotOptimize(bare(split, true, blocks)); }));
      keep("distances", time_of([&] { benchmark::DoNotOptimize(analyse(split, blocks)); }));
      keep("distances, elements, pixels", time_of([&] { benchmark::DoNotOptimize(analyse(all, blocks)); }));
      keep("sdcm, all to L2", time_of([&] { benchmark::DoNotOptimize(analyse(published, blocks)); }));
    }
    keep("distances, all cores, a core", time_of([&] { benchmark::DoNotOptimize(analyse(split, blocks)); }));
    if (hits != expected) {
      throw std::runtime_error("the analysis differs from its parts");
    }
  }
  for (const auto& [what, time] : best) {
    state.counters[what] = million / time;
  }
  state.counters["analysis/bare"] = best.at("bare") / best.at("analysis");
  state.counters["distances/bare"] = best.at("bare, distances") / best.at("distances");
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  const auto rounds = static_cast<benchmark::IterationCount>(from_environment("RAYREPLAY_BENCH_ROUNDS", 3));
  for (const char* const stream : {"coherent", "incoherent", "zipf"}) {
    benchmark::RegisterBenchmark((std::string("80 SMs and L2/") + stream).c_str(), analysis, stream)
        ->Iterations(rounds)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
