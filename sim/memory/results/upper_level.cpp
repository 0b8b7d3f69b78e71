#include "sim/memory/results/upper_level.hpp"

#include <tbb/parallel_for.h>

#include <limits>
#include <span>
#include <utility>

#include "sim/memory/results/level_distances.hpp"
#include "sim/memory/reuse/sample_error.hpp"

namespace rayreplay::memory {

UpperLevel::UpperLevel(const AnalysisOptions& options, LevelModels models, bool needed_below,
                       std::optional<BelowSizes> below, Accelerator* device)
    : options_(&options), models_(std::move(models)), needed_below_(needed_below), sms_(options.sms) {
  const CoalesceOptions& stream = options.coalescing;
  if (present()) {
    from_stream_.emplace(stream.line_bytes, stream.sector_bytes, models_.geometry.line_bytes,
                         models_.geometry.sector());
  }
  if (needed_below && !models_.model->exact()) {
    models_.filter = CacheModels::create("lru:write=through,allocate=false").model;
  }
  models_.evictions = options.evictions;
  if (device != nullptr && models_.engine != nullptr) {
    models_.given = true;
    stacks_.emplace(device, options.sms);
  }
  for (Sm& sm : sms_) {
    sm.distances = wanted_distances(options.histograms);
  }
  const std::uint32_t sector = needed_below ? models_.geometry.sector() : stream.sector_bytes;
  memory_sector_ = below ? below->sector_bytes : sector;
  to_below_.emplace(stream.line_bytes, sector, below ? below->line_bytes : stream.line_bytes, memory_sector_);
}

void UpperLevel::run(Chunk& chunk) {
  const std::size_t n = chunk.transactions.size();
  chunk.l2_begin.assign(n + 1, 0);
  chunk.l1_distance_of.resize(options_->histograms.elements && present() ? n : 0);
  const auto each_sm = [&](const auto& act) {
    tbb::parallel_for(std::size_t{0}, sms_.size(), [&](std::size_t sm) {
      if (chunk.sm_begin[sm] != chunk.sm_begin[sm + 1]) {
        act(sm);
      }
    });
  };
  if (present()) {
    sort_by_sm(chunk, options_->sms, *from_stream_);
    if (stacks_) {
      stacks_->find(chunk.l1, {chunk.sm_begin.begin(), chunk.sm_begin.end()}, chunk.l1_distances);
    }
    each_sm([&](std::size_t sm) {
      run_cache(chunk, sm);
      add_sums(chunk, sm);
    });
  }
  if (needed_below_) {
    sum_counts(chunk.l2_begin);
    chunk.l2.resize(chunk.l2_begin.back());
    each_sm([&](std::size_t sm) { send_down(chunk, sm); });
  } else {
    send_all(chunk);
  }
}

void UpperLevel::run_cache(Chunk& chunk, std::size_t number) {
  Sm& sm = sms_[number];
  if (!sm.cache) {
    sm.cache.emplace(models_);
  }
  const std::span<const std::uint32_t> rows = chunk.rows_of(number);
  const std::size_t begin = chunk.sm_begin[number];
  CacheUnit& cache = *sm.cache;
  cache.access(std::span(chunk.l1).subspan(begin, rows.size()),
               stacks_ ? std::span(chunk.l1_distances).subspan(begin, rows.size()) : std::span<std::uint32_t>());
  for (std::size_t k = 0; k < rows.size() && !chunk.l1_distance_of.empty(); ++k) {
    chunk.l1_distance_of[rows[k]] = cache.distances()[k];
  }
  for (std::size_t k = 0; k < rows.size() && !chunk.outcomes.empty(); ++k) {
    chunk.outcomes[rows[k]].l1_hit = cache.hit(k);
  }
  if (needed_below_) {
    for (const DownAccess& access : cache.down()) {
      std::uint32_t& count = chunk.l2_begin[rows[access.cause]];
      to_below_->each(access.line, access.sectors, [&](std::uint64_t, std::uint8_t) { ++count; });
    }
  }
}

void UpperLevel::add_sums(const Chunk& chunk, std::size_t number) {
  Sm& sm = sms_[number];
  CacheUnit& cache = *sm.cache;
  const std::size_t begin = chunk.sm_begin[number];
  const std::size_t rows = chunk.sm_begin[number + 1] - begin;
  const auto kind_of = [&](std::size_t k) { return static_cast<std::size_t>(chunk.kinds[begin + k]); };
  for (std::size_t k = 0; k < rows; ++k) {
    sm.tallies[kind_of(k)].add(cache.access(k));
  }
  for (std::size_t k = 0; k < rows && !sm.distances.empty(); ++k) {
    sm.distances[kind_of(k)].add(cache.distances()[k], 1);
  }
  if (models_.evictions) {
    cache.log_evictions([&](std::size_t k) { return chunk.kinds[begin + k]; });
  }
  if (cache.exact()) {
    for (const DownAccess& access : cache.down()) {
      add_traffic(access, sm.traffic[kind_of(access.cause)]);
    }
  } else {
    for (std::size_t k = 0; k < rows; ++k) {
      sm.tallies[kind_of(k)].add_filled(cache.filled(k));
    }
  }
}

void UpperLevel::send_down(Chunk& chunk, std::size_t number) const {
  const std::span<const std::uint32_t> rows = chunk.rows_of(number);
  std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
  std::size_t place = 0;
  for (const DownAccess& access : sms_[number].cache->down()) {
    if (access.cause != last) {
      last = access.cause;
      place = chunk.l2_begin[rows[last]];
    }
    to_below_->each(access.line, access.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
      chunk.l2[place++] = {line, sectors, access.store};
    });
  }
}

void UpperLevel::send_all(Chunk& chunk) const {
  chunk.l2.clear();
  for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
    const Transaction& transaction = chunk.transactions[i];
    to_below_->each(transaction.line, transaction.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
      chunk.l2.push_back({line, sectors, (transaction.flags & kStore) != 0});
    });
    chunk.l2_begin[i + 1] = static_cast<std::uint32_t>(chunk.l2.size());
  }
}

void UpperLevel::end_window(WindowSums& window) {
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    if (!sms_[sm].cache) {
      continue;
    }
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      LevelSums& sums = sms_[sm].traffic[kind];
      sms_[sm].tallies[kind].add_to(sums, sms_[sm].cache->exact());
      window.levels[kL1][kind].merge(sums);
      window.sms[sm][kL1].merge(sums);
    }
    sms_[sm].tallies = {};
    sms_[sm].traffic = {};
  }
}

void UpperLevel::move_distances(LevelResult& result) {
  for (Sm& sm : sms_) {
    memory::move_distances(options_->histograms, sm.distances, result);
  }
}

void UpperLevel::finish(LevelResult& result) const {
  result.geometry = models_.geometry;
  result.model = models_.spec;
  for (const Sm& sm : sms_) {
    if (sm.cache) {
      result.counts += sm.cache->counts();
      result.histogram.merge(sm.cache->histogram());
      merge_parts(result.parts, sm.cache->parts());
      if (models_.evictions) {
        merge(result.evictions, sm.cache->eviction_matrix());
      }
      ++result.caches;
    }
  }
  if (stacks_) {
    for (const ReuseHistogram& histogram : stacks_->histograms()) {
      result.histogram.merge(histogram);
    }
  }
}

}  // namespace rayreplay::memory
