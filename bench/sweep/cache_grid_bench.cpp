// 1,000 cache geometries over one stream of 10 million accesses, against one reuse-distance pass over it.
//
// The geometries are 20 numbers of sets, powers of two and three times them, with 1 to 50 ways each; lines of 128 bytes
// with sectors of 32. `l1` is the default L1 (stores go through and take no line; they go to lines of their own, as a
// launch's do to its frame buffer), `l2` writes back and allocates, and a tenth of the accesses are stores anywhere.
// Streams: `captured`, a launch of tests/data/h200 again and again, with its own sectors; `captured_once`, the launch
// at its own length; `coherent` and `incoherent` descents of a tree; `zipf` and `uniform`, which have no order at all.
// The last four touch one sector at random, the hardest case for what the passes leave out. Each round runs the engines
// `bitmap` and `splay` (the published algorithm) over the lines on one thread, then the grid with the threads of the
// row; `ratio` is the least time of the grid over the least time of `bitmap`, by the wall clock, `cpu_ratio` by the
// processor time of the process, which neighbours on the machine disturb less; `splay_ratio` is the wall clock against
// `splay`; `engine_ns`, `splay_ns` and `grid_ns` are processor time by access. Before a figure is taken some of the
// caches are run by themselves and compared. RAYREPLAY_BENCH_SCALE (default 1) scales the streams,
// RAYREPLAY_BENCH_ROUNDS (default 3) are the rounds.
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include "base/split_mix.hpp"
#include "bench/memory/bench_time.hpp"
#include "sim/memory/caches/lru_grid.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/support/captured_streams.hpp"
#include "tests/support/reuse_streams.hpp"

namespace {

using namespace rayreplay;
using bench::from_environment;
using bench::time_of;
using memory::CacheGeometry;
using memory::CachePolicy;
using memory::LineAccess;

constexpr std::size_t kGroup = 6;  ///< warps that take turns

/// Warps of a captured launch in turn, instruction by instruction.
std::vector<LineAccess> captured(std::size_t size, bool once) {
  const std::vector<memory::WarpStream> streams = test::captured_streams("one-weekend").warps;
  std::vector<LineAccess> accesses;
  while (accesses.size() < size) {
    const std::size_t before = accesses.size();
    for (std::size_t first = 0; first < streams.size(); first += kGroup) {
      const std::size_t last = std::min(first + kGroup, streams.size());
      bool busy = true;
      for (std::size_t instruction = 0; busy; ++instruction) {
        busy = false;
        for (std::size_t w = first; w < last; ++w) {
          const memory::WarpStream& warp = streams[w];
          if (instruction >= warp.instructions()) {
            continue;
          }
          busy = true;
          for (std::size_t i = warp.first[instruction]; i < warp.first[instruction + 1]; ++i) {
            const memory::Transaction& one = warp.transactions[i];
            accesses.push_back({one.line, one.sectors, (one.flags & memory::kStore) != 0});
          }
        }
      }
    }
    if (accesses.size() == before) {
      throw std::runtime_error("a launch without accesses");
    }
    if (once) {
      size = std::min(size, accesses.size());
    }
  }
  accesses.resize(size);
  return accesses;
}

std::vector<LineAccess> made(const std::string& name, std::size_t size) {
  constexpr std::uint32_t kLines = 1U << 18U;
  const test::ReuseStream stream = name == "coherent"     ? test::coherent_stream(size, 18, 1)
                                   : name == "incoherent" ? test::incoherent_stream(size, 18, 2)
                                   : name == "zipf"       ? test::zipf_stream(size, kLines, 0.99, 3)
                                                          : test::uniform_stream(size, kLines, 4);
  std::vector<LineAccess> accesses;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = split_mix(9, i);
    accesses.push_back({stream.line[i], static_cast<std::uint8_t>(1U << (bits & 3U)), (bits >> 8U) % 10 == 0});
  }
  return accesses;
}

const std::vector<LineAccess>& stream_of(const std::string& name, bool stores_apart) {
  static std::string kept;
  static std::vector<LineAccess> accesses;
  const std::string key = name + (stores_apart ? " apart" : "");
  if (kept != key) {
    const auto size = static_cast<std::size_t>(10e6 * from_environment("RAYREPLAY_BENCH_SCALE", 1));
    accesses = name.starts_with("captured") ? captured(size, name == "captured_once") : made(name, size);
    if (stores_apart) {
      std::uint64_t most = 0;
      for (const LineAccess& one : accesses) {
        most = std::max(most, one.line);
      }
      for (LineAccess& one : accesses) {
        one.line += one.store ? most + 1 : 0;
      }
    }
    kept = key;
  }
  return accesses;
}

std::vector<CacheGeometry> geometries() {
  std::vector<CacheGeometry> result;
  for (const std::uint64_t sets :
       {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U, 96U, 128U, 192U, 256U, 384U, 512U, 768U, 1024U}) {
    for (std::uint32_t ways = 1; ways <= 50; ++ways) {
      result.push_back({.bytes = sets * ways * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 32});
    }
  }
  return result;
}

void compare(const std::vector<LineAccess>& accesses, const std::vector<CacheGeometry>& all, const CachePolicy& policy,
             const memory::LruGrid& grid) {
  const std::vector<std::uint64_t> begins{0, accesses.size()};
  std::vector<memory::ExactCache> caches;
  constexpr std::size_t kStep = 97;
  for (std::size_t i = 0; i < all.size(); i += kStep) {
    caches.push_back({all[i], policy});
  }
  const memory::ExactCounts counts = memory::exact_counts(accesses, begins, caches, nullptr);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != grid.counts[i * kStep]) {
      throw std::runtime_error("a cache of the grid counts other than by itself");
    }
  }
}

/// Seconds.
struct Least {
  double wall = 1e30;
  double cpu = 1e30;
};

template <class Function>
void measure(Least& least, const Function& function) {
  const double before = bench::seconds(CLOCK_PROCESS_CPUTIME_ID);
  least.wall = std::min(least.wall, time_of(function, CLOCK_MONOTONIC));
  least.cpu = std::min(least.cpu, bench::seconds(CLOCK_PROCESS_CPUTIME_ID) - before);
}

void grid_speed(benchmark::State& state, const std::string& name, bool l1, std::size_t threads) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  const std::vector<LineAccess>& accesses = stream_of(name, l1);
  const std::vector<CacheGeometry> all = geometries();
  const CachePolicy policy{.replacement = memory::Replacement::Lru, .write_back = !l1, .allocate = !l1, .seed = 0};
  const std::vector<std::uint64_t> begins{0, accesses.size()};
  std::vector<std::uint64_t> lines;
  for (const LineAccess& one : accesses) {
    lines.push_back(one.line);
  }
  std::vector<std::uint32_t> distances(std::size_t{1} << 16U);
  Least bitmap;
  Least splay;
  Least ours;
  memory::LruGrid grid;
  const auto rounds = static_cast<int>(from_environment("RAYREPLAY_BENCH_ROUNDS", 3));
  for (auto round : state) {
    for (int i = 0; i < rounds; ++i) {
      for (Least* const engine : {&bitmap, &splay}) {
        const std::unique_ptr<memory::ReuseStack> stack =
            memory::ReuseEngines::create(engine == &bitmap ? "bitmap" : "splay").model->make();
        measure(*engine, [&] {
          for (std::size_t at = 0; at < lines.size(); at += distances.size()) {
            const std::size_t n = std::min(distances.size(), lines.size() - at);
            stack->distances(std::span(lines).subspan(at, n), std::span(distances).first(n));
          }
        });
      }
      measure(ours, [&] { grid = memory::lru_grid(accesses, begins, all, policy, nullptr); });
    }
  }
  compare(accesses, all, policy, grid);
  const double each = 1e9 / static_cast<double>(lines.size());
  state.counters["ratio"] = ours.wall / bitmap.wall;
  state.counters["cpu_ratio"] = ours.cpu / bitmap.cpu;
  state.counters["splay_ratio"] = ours.wall / splay.wall;
  state.counters["engine_ns"] = bitmap.cpu * each;
  state.counters["splay_ns"] = splay.cpu * each;
  state.counters["grid_ns"] = ours.cpu * each;
  state.counters["passes"] = static_cast<double>(grid.passes);
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::size_t> counts = {1, 2};
  counts.insert(std::max(1U, std::thread::hardware_concurrency()));
  for (const char* name : {"captured", "captured_once", "coherent", "incoherent", "zipf", "uniform"}) {
    for (const bool l1 : {true, false}) {
      for (const std::size_t threads : counts) {
        const std::string label =
            std::string("grid/") + name + (l1 ? "/l1/" : "/l2/") + std::to_string(threads) + "_threads";
        benchmark::RegisterBenchmark(
            label.c_str(), [name, l1, threads](benchmark::State& state) { grid_speed(state, name, l1, threads); })
            ->Iterations(1)
            ->Unit(benchmark::kSecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
