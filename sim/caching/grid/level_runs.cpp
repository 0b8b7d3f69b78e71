#include "sim/caching/grid/level_runs.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <oneapi/tbb/parallel_for.h>

#include "base/parameters.hpp"
#include "sim/caching/grid/distance_runs.hpp"
#include "sim/memory/caches/lru_grid.hpp"
#include "sim/memory/caches/sector_count.hpp"
#include "sim/memory/caches/set_associative.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::experiment {
namespace {

using memory::CacheCounts;
using memory::kOne;
using memory::LineAccess;

using Accesses = std::span<const LineAccess>;

constexpr std::size_t kBatch = std::size_t{1} << 14U;

std::optional<memory::CachePolicy> lru_policy(const std::string& model) {
  const ModelSpec spec = parse_spec(model);
  if (spec.name != "lru") {
    return std::nullopt;
  }
  return memory::write_policy(resolve(memory::write_parameters(), spec.settings, "cache model 'lru'"));
}

/// Result of one cache over one stream.
struct Alone {
  CacheCounts counts;
  std::uint64_t read = 0;       ///< bytes, of models with probabilities …
  std::uint64_t read_part = 0;  ///< … and the remainder, fixed point
  std::uint64_t written = 0;
};

Alone run_alone(Accesses accesses, const LevelCache& which) {
  const std::unique_ptr<memory::CacheModel> model = memory::CacheModels::create(which.model).model;
  const std::unique_ptr<memory::Cache> cache = model->make(which.geometry());
  std::unique_ptr<memory::BitmapStack> stack;
  if (model->wants_distances()) {
    stack = std::make_unique<memory::BitmapStack>();
  }
  Alone alone;
  std::vector<std::uint32_t> hit(std::min(kBatch, accesses.size()));
  std::vector<std::uint32_t> distances(stack == nullptr ? 0 : hit.size());
  std::vector<std::uint64_t> lines(distances.size());
  for (std::size_t at = 0; at < accesses.size(); at += kBatch) {
    const Accesses some = accesses.subspan(at, std::min(kBatch, accesses.size() - at));
    std::span<const std::uint32_t> found;
    if (stack != nullptr) {
      std::transform(some.begin(), some.end(), lines.begin(), [](const LineAccess& access) { return access.line; });
      stack->distances(std::span(lines).first(some.size()), std::span(distances).first(some.size()));
      found = std::span(distances).first(some.size());
    }
    cache->access(some, found, std::span(hit).first(some.size()), nullptr);
    if (model->exact()) {
      continue;
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::uint64_t bytes = memory::sector_count(some[i].sectors) * which.sector_bytes;
      if (some[i].store) {
        alone.written += bytes;
      } else {
        alone.read_part += std::uint64_t{kOne - (hit[i] & ~memory::kSectorMiss)} * bytes;
      }
    }
    alone.read += alone.read_part / kOne;
    alone.read_part %= kOne;
  }
  alone.counts = cache->counts();
  return alone;
}

void exact_traffic(LevelRun& run, const LevelCache& cache) {
  run.read_bytes = run.counts.sectors_filled * cache.sector_bytes;
  run.written_bytes = run.counts.sectors_written * cache.sector_bytes;
}

ErrorInfo told(const std::exception& error, const LevelCache& cache) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    return known->info();
  }
  return {"there is not enough memory for a cache", to_string(cache.geometry()), "", "", "remove it from the sweep"};
}

LevelRun run_streams_alone(Accesses accesses, std::span<const std::uint64_t> begins, const LevelCache& cache) {
  LevelRun run;
  std::vector<Alone> by_stream(begins.size() - 1);
  try {
    tbb::parallel_for(std::size_t{0}, by_stream.size(), [&](std::size_t s) {
      if (begins[s] != begins[s + 1]) {
        by_stream[s] = run_alone(accesses.subspan(begins[s], begins[s + 1] - begins[s]), cache);
      }
    });
  } catch (const std::bad_alloc& error) {
    run.failure = told(error, cache);
    return run;
  } catch (const Error& error) {
    run.failure = told(error, cache);
    return run;
  }
  for (const Alone& one : by_stream) {
    run.counts += one.counts;
    run.read_bytes += one.read;
    run.written_bytes += one.written;
    run.read_part += one.read_part;
  }
  if (cache.exact) {
    exact_traffic(run, cache);
  }
  return run;
}

void run_all_by_distance(Accesses accesses, std::span<const std::uint64_t> begins, std::span<const LevelCache> caches,
                         const std::vector<std::size_t>& which, std::vector<LevelRun>& runs) {
  std::vector<LevelCache> some;
  for (const std::size_t i : which) {
    some.push_back(caches[i]);
  }
  try {
    const std::vector<LevelRun> found = run_distances(accesses, begins, some);
    for (std::size_t k = 0; k < which.size(); ++k) {
      runs[which[k]] = found[k];
    }
  } catch (const std::bad_alloc& error) {
    for (const std::size_t i : which) {
      runs[i].failure = told(error, caches[i]);
    }
  }
}

}  // namespace

void LevelRun::add(const LevelRun& other) {
  counts += other.counts;
  read_bytes += other.read_bytes;
  read_part += other.read_part;
  written_bytes += other.written_bytes;
  if (!failure) {
    failure = other.failure;
  }
}

LevelCache level_cache(const memory::CacheGeometry& geometry, const std::string& model, const std::string& where) {
  if (geometry.bytes == 0) {
    return {};
  }
  memory::check(geometry, where);
  const memory::CacheModels::Created created = memory::CacheModels::create(model);
  if (created.model->exact() && geometry.associativity() > memory::kScannedWays) {
    // Rejects invalid caches before it reserves memory.
    constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 29U;
    if (geometry.lines() > kMaxLines) {
      (void)created.model->make(geometry);
    }
  }
  return {geometry.bytes,    geometry.line_bytes,
          geometry.sector(), static_cast<std::uint32_t>(geometry.associativity()),
          created.spec,      created.model->exact()};
}

std::vector<LevelRun> run_level(Accesses accesses, std::span<const std::uint64_t> begins,
                                std::span<const LevelCache> caches, Accelerator* accelerator, std::uint64_t& passes) {
  std::vector<LevelRun> runs(caches.size());
  std::vector<std::size_t> alone;
  std::vector<std::size_t> by_distance;
  // By write policy and allocation: four groups at most.
  std::vector<std::pair<memory::CachePolicy, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const std::optional<memory::CachePolicy> policy = lru_policy(caches[i].model);
    if (!policy) {
      (parse_spec(caches[i].model).name == "sdcm" ? by_distance : alone).push_back(i);
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& one) {
      return one.first.write_back == policy->write_back && one.first.allocate == policy->allocate;
    });
    if (group == groups.end()) {
      groups.push_back({*policy, {}});
      group = std::prev(groups.end());
    }
    group->second.push_back(i);
  }
  for (const auto& [policy, which] : groups) {
    std::vector<memory::CacheGeometry> geometries;
    for (const std::size_t i : which) {
      geometries.push_back(caches[i].geometry());
    }
    const memory::LruGrid grid = memory::lru_grid(accesses, begins, geometries, policy, accelerator);
    passes += grid.passes;
    for (std::size_t k = 0; k < which.size(); ++k) {
      LevelRun& run = runs[which[k]];
      for (const CacheCounts& counts : grid.counts[k]) {
        run.counts += counts;
      }
      exact_traffic(run, caches[which[k]]);
    }
  }
  if (!by_distance.empty()) {
    run_all_by_distance(accesses, begins, caches, by_distance, runs);
    passes += begins.size() - 1;
  }
  tbb::parallel_for(std::size_t{0}, alone.size(),
                    [&](std::size_t k) { runs[alone[k]] = run_streams_alone(accesses, begins, caches[alone[k]]); });
  passes += alone.size() * (begins.size() - 1);
  return runs;
}

}  // namespace rayreplay::experiment
