#include "sim/caching/grid/distance_runs.hpp"

#include <algorithm>

#include <oneapi/tbb/parallel_for.h>

#include "sim/memory/caches/sector_count.hpp"
#include "sim/memory/caches/stack_distance.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::experiment {
namespace {

using memory::kInfinite;
using memory::kOne;

using Accesses = std::span<const memory::LineAccess>;

constexpr std::size_t kBatch = std::size_t{1} << 14U;

struct Count {
  std::uint64_t accesses = 0;
  std::uint64_t loaded_sectors = 0;

  void add(const memory::LineAccess& access) {
    ++accesses;
    loaded_sectors += access.store ? 0 : memory::sector_count(access.sectors);
  }
};

/// Histogram of a stream by reuse distance.
struct Distances {
  std::vector<Count> counts;
  Count first;  ///< first accesses of lines
  std::uint64_t accesses = 0;
  std::uint64_t stored_sectors = 0;
};

Distances distances_of(Accesses accesses) {
  Distances result;
  result.accesses = accesses.size();
  memory::BitmapStack stack;
  std::vector<std::uint32_t> distances(std::min(kBatch, accesses.size()));
  std::vector<std::uint64_t> lines(distances.size());
  for (std::size_t at = 0; at < accesses.size(); at += kBatch) {
    const Accesses some = accesses.subspan(at, std::min(kBatch, accesses.size() - at));
    std::transform(some.begin(), some.end(), lines.begin(), [](const auto& access) { return access.line; });
    stack.distances(std::span(lines).first(some.size()), std::span(distances).first(some.size()));
    // A distance is less than the number of lines.
    if (stack.live_lines() > result.counts.size()) {
      result.counts.resize(stack.live_lines());
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      (distances[i] == kInfinite ? result.first : result.counts[distances[i]]).add(some[i]);
      result.stored_sectors += some[i].store ? memory::sector_count(some[i].sectors) : 0;
    }
  }
  return result;
}

/// A sum of products of probability and count, in fixed point: `whole` + `part` / kOne.
struct Sum {
  std::uint64_t whole = 0, part = 0;

  void add(std::uint32_t probability, std::uint64_t times) {
    whole += times / kOne * probability;
    part += times % kOne * probability;
    whole += part / kOne;
    part %= kOne;
  }
};

LevelRun run_of(const std::vector<Distances>& streams, const LevelCache& cache) {
  const memory::CacheGeometry geometry = cache.geometry();
  const memory::StackDistanceTable table(geometry.associativity(), geometry.lines());
  LevelRun run;
  Sum read;
  for (const Distances& stream : streams) {
    run.counts.accesses += stream.accesses;
    run.written_bytes += stream.stored_sectors * cache.sector_bytes;
    for (std::size_t d = 0; d < stream.counts.size(); ++d) {
      const std::uint32_t hit = table.hit(static_cast<std::uint32_t>(d));
      run.counts.hits += stream.counts[d].accesses * hit;
      read.add(kOne - hit, stream.counts[d].loaded_sectors * cache.sector_bytes);
    }
    read.add(kOne, stream.first.loaded_sectors * cache.sector_bytes);
  }
  run.read_bytes = read.whole + (read.part + kOne / 2) / kOne;
  return run;
}

}  // namespace

std::vector<LevelRun> run_distances(Accesses accesses, std::span<const std::uint64_t> begins,
                                    std::span<const LevelCache> caches) {
  namespace tbb = oneapi::tbb;
  std::vector<Distances> streams(begins.size() - 1);
  tbb::parallel_for(std::size_t{0}, streams.size(), [&](std::size_t s) {
    streams[s] = distances_of(accesses.subspan(begins[s], begins[s + 1] - begins[s]));
  });
  std::vector<LevelRun> runs(caches.size());
  tbb::parallel_for(std::size_t{0}, caches.size(), [&](std::size_t i) { runs[i] = run_of(streams, caches[i]); });
  return runs;
}

}  // namespace rayreplay::experiment
