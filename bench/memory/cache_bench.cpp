// Exact caches and the stack distance cache model: accesses a second on one core.
//
// Each row is a geometry and a stream (tests/support/reuse_streams.hpp, line numbers taken as they are). In each round
// everything runs on the same stream, one after the other on one thread; rates come from the least processor time of
// all rounds, which neighbours on the machine disturb least. Beside the models, in Mref/s:
//   limit       the access's set found as the caches do, one word of it read and written, as far ahead prefetched:
//               what any cache of so many sets must do
//   list+map    LRU of as many lines, fully associative, of std::list and std::unordered_map, as it is usually written
//   list sets   the same with a std::list searched from the front for each set (up to 64 ways)
// `lru/limit` and `lru/list` are ratios of rates. Before a figure is taken lru's hits are compared with those of the
// list that does the same. RAYREPLAY_BENCH_SCALE (default 1) scales the streams, 8 M references;
// RAYREPLAY_BENCH_ROUNDS (default 3) the rounds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/memory/bench_time.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/set_index.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/support/reuse_streams.hpp"

namespace {

using namespace rayreplay;
using memory::Cache;
using memory::CacheGeometry;
using memory::CacheModels;
using memory::DownAccess;
using memory::LineAccess;

using bench::from_environment;
using bench::time_of;

struct Accesses {
  std::vector<LineAccess> loads;  ///< whole lines
  std::vector<LineAccess> mixed;  ///< one of 4 sectors, a quarter stores
  std::vector<std::uint32_t> distances;
};

const Accesses& accesses_of(const std::string& name) {
  static std::string kept;
  static Accesses accesses;
  if (kept == name) {
    return accesses;
  }
  const auto size = static_cast<std::size_t>(8e6 * from_environment("RAYREPLAY_BENCH_SCALE", 1));
  const test::ReuseStream stream =
      name == "coherent" ? test::coherent_stream(size, 20, 1) : test::zipf_stream(size, 1U << 20U, 0.99, 3);
  accesses = {};
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = split_mix(9, i);
    accesses.loads.push_back({stream.line[i], 1, false});
    accesses.mixed.push_back({stream.line[i], static_cast<std::uint8_t>(1U << (bits & 3U)), (bits & 12U) == 0});
  }
  accesses.distances.resize(size);
  memory::ReuseEngines::create("bitmap").model->make()->distances(stream.line, accesses.distances);
  kept = name;
  return accesses;
}

constexpr std::size_t kCall = std::size_t{1}
                              << 14U;  ///< accesses handed over at once, about as many as an SM's in a chunk

/// Number of hits (exact models).
std::uint64_t run(const std::string& spec, const CacheGeometry& geometry, std::span<const LineAccess> accesses,
                  std::span<const std::uint32_t> distances, bool down) {
  const CacheModels::Created created = CacheModels::create(spec);
  const std::unique_ptr<Cache> cache = created.model->make(geometry);
  std::vector<std::uint32_t> hit(kCall);
  std::vector<DownAccess> sent;
  for (std::size_t at = 0; at < accesses.size(); at += kCall) {
    const std::size_t n = std::min(kCall, accesses.size() - at);
    sent.clear();
    cache->access(accesses.subspan(at, n),
                  created.model->wants_distances() ? distances.subspan(at, n) : std::span<const std::uint32_t>{},
                  std::span(hit).first(n), down ? &sent : nullptr);
  }
  return cache->counts().hits / memory::kOne;
}

std::uint64_t limit(const CacheGeometry& geometry, std::span<const LineAccess> accesses) {
  const memory::SetIndex index(geometry.sets());
  // As many bytes as tags take; a fully associative cache's line may be in any place.
  const std::uint64_t places = geometry.sets() == 1 ? geometry.lines() : geometry.sets();
  const std::uint64_t stride = geometry.sets() == 1 ? 1 : geometry.associativity();
  std::vector<std::uint32_t> tags(places * stride);
  const memory::SetIndex any(places);
  constexpr std::size_t kBatch = 64;
  std::vector<std::uint64_t> at(kBatch);
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < accesses.size(); i += kBatch) {
    const std::size_t n = std::min(kBatch, accesses.size() - i);
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = any.place(accesses[i + k].line).set * stride;
      __builtin_prefetch(&tags[at[k]], 1);
    }
    for (std::size_t k = 0; k < n; ++k) {
      const auto tag = static_cast<std::uint32_t>(accesses[i + k].line);
      same += tags[at[k]] == tag ? 1U : 0U;
      tags[at[k]] = tag;
    }
  }
  return same;
}

std::uint64_t list_and_map(const CacheGeometry& geometry, std::span<const LineAccess> accesses) {
  std::list<std::uint64_t> order;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where;
  std::uint64_t hits = 0;
  for (const LineAccess& access : accesses) {
    const auto found = where.find(access.line);
    if (found != where.end()) {
      ++hits;
      order.splice(order.begin(), order, found->second);
      continue;
    }
    if (order.size() == geometry.lines()) {
      where.erase(order.back());
      order.pop_back();
    }
    order.push_front(access.line);
    where.emplace(access.line, order.begin());
  }
  return hits;
}

std::uint64_t list_sets(const CacheGeometry& geometry, std::span<const LineAccess> accesses) {
  std::vector<std::list<std::uint64_t>> sets(geometry.sets());
  std::uint64_t hits = 0;
  for (const LineAccess& access : accesses) {
    std::list<std::uint64_t>& set = sets[access.line % geometry.sets()];
    const auto found = std::find(set.begin(), set.end(), access.line);
    if (found != set.end()) {
      ++hits;
      set.splice(set.begin(), set, found);
      continue;
    }
    if (set.size() == geometry.associativity()) {
      set.pop_back();
    }
    set.push_front(access.line);
  }
  return hits;
}

void caches(benchmark::State& state, const CacheGeometry& geometry, const std::string& stream) {
  const Accesses& accesses = accesses_of(stream);
  const auto million = static_cast<double>(accesses.loads.size()) * 1e-6;
  CacheGeometry sectored = geometry;
  sectored.sector_bytes = geometry.line_bytes / 4;
  const bool full = geometry.sets() == 1;
  std::map<std::string, double> best;
  const auto keep = [&](const std::string& what, double time) {
    const auto it = best.emplace(what, time).first;
    it->second = std::min(it->second, time);
  };
  std::uint64_t hits = 0;
  std::uint64_t expected = 0;
  for (auto _ : state) {
    keep("limit", time_of([&] { benchmark::DoNotOptimize(limit(geometry, accesses.loads)); }));
    for (const char* model : {"lru", "fifo", "random", "sdcm"}) {
      keep(model, time_of([&] {
             const std::uint64_t found = run(model, geometry, accesses.loads, accesses.distances, false);
             hits = model == std::string("lru") ? found : hits;
           }));
    }
    keep("lru, sectors, stores, down",
         time_of([&] { benchmark::DoNotOptimize(run("lru", sectored, accesses.mixed, {}, true)); }));
    if (full) {
      keep("list", time_of([&] { expected = list_and_map(geometry, accesses.loads); }));
    } else if (geometry.ways <= 64) {
      keep("list", time_of([&] { expected = list_sets(geometry, accesses.loads); }));
    } else {
      continue;
    }
    if (hits != expected) {
      throw std::runtime_error("lru differs from its list");
    }
  }
  for (const auto& [what, time] : best) {
    state.counters[what] = million / time;
  }
  state.counters["lru/limit"] = best.at("limit") / best.at("lru");
  if (best.contains("list")) {
    state.counters["lru/list"] = best.at("list") / best.at("lru");
  }
  state.counters["hit rate"] = static_cast<double>(hits) / (million * 1e6);
}

struct Row {
  const char* name;
  std::uint64_t lines;
  std::uint32_t line_bytes;
  std::uint32_t ways;
};

void report() {
  const auto rounds = static_cast<benchmark::IterationCount>(from_environment("RAYREPLAY_BENCH_ROUNDS", 3));
  const std::vector<Row> rows = {
      {"64 sets x 4", 256, 128, 4},
      {"2048 sets x 16", 32768, 128, 16},
      {"6 MB, 32 B, 16 ways", 196608, 32, 16},
      {"32 KB, 128 B, 64 ways", 256, 128, 64},
      {"16 sets x 2048", 32768, 128, 2048},
      {"full, 256 lines", 256, 128, 0},
      {"full, 196608 lines", 196608, 32, 0},
  };
  for (const char* const stream : {"coherent", "zipf"}) {
    for (const Row& row : rows) {
      const CacheGeometry geometry{
          .bytes = row.lines * row.line_bytes, .line_bytes = row.line_bytes, .ways = row.ways, .sector_bytes = 0};
      benchmark::RegisterBenchmark((std::string(row.name) + "/" + stream).c_str(), caches, geometry, stream)
          ->Iterations(rounds)
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
