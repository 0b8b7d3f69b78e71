#include "sim/memory/results/lower_level.hpp"

#include <utility>

#include "sim/memory/results/analysis_checks.hpp"
#include "sim/memory/results/level_distances.hpp"
#include "sim/memory/reuse/sample_error.hpp"

namespace rayreplay::memory {

LowerLevel::LowerLevel(const AnalysisOptions& options, LevelModels models, std::uint32_t memory_sector,
                       Accelerator* device)
    : options_(&options),
      models_(std::move(models)),
      memory_sector_(memory_sector),
      distances_(wanted_distances(options.histograms)),
      sm_tallies_(options.sms),
      sm_traffic_(options.sms) {
  models_.evictions = options.evictions;
  if (device != nullptr && models_.engine != nullptr) {
    models_.given = true;
    stacks_.emplace(device, 1);
  }
  if (models_.present()) {
    cache_.emplace(models_);
  }
}

void LowerLevel::find_distances(Chunk& chunk) {
  if (stacks_) {
    stacks_->find(chunk.l2, {0, chunk.l2.size()}, chunk.l2_distances);
  }
}

void LowerLevel::run(Chunk& chunk) {
  if (cache_) {
    run_cache(chunk);
  } else {
    for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
      for (std::uint32_t k = chunk.l2_begin[i]; k < chunk.l2_begin[i + 1]; ++k) {
        to_memory(outcome_of(chunk, i), chunk.l2[k], kOne);
      }
    }
  }
  window_read_ += dram_read_ / kOne;
  dram_read_ %= kOne;
}

/// A load is fetched with this probability (fixed point); a store is always written.
void LowerLevel::to_memory(TransactionOutcome& outcome, const LineAccess& access, std::uint64_t probability) {
  const std::uint64_t bytes = sector_count(access.sectors) * memory_sector_;
  if (access.store) {
    dram_write_ += bytes;
  } else {
    dram_read_ += probability * bytes;
    outcome.fetched += probability * bytes;
  }
}

void LowerLevel::log_evictions(const Chunk& chunk) {
  std::size_t i = 0;  // accesses ascend
  cache_->log_evictions([&](std::size_t k) {
    while (chunk.l2_begin[i + 1] <= k) {
      ++i;
    }
    return chunk.transactions[i].kind;
  });
}

void LowerLevel::run_cache(Chunk& chunk) {
  CacheUnit& cache = *cache_;
  const bool exact = cache.exact();
  cache.access(chunk.l2, stacks_ ? std::span(chunk.l2_distances) : std::span<std::uint32_t>());
  const std::span<const DownAccess> all_down = cache.down();
  auto down = all_down.begin();
  if (models_.evictions) {
    log_evictions(chunk);
  }
  for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
    const std::uint32_t begin = chunk.l2_begin[i];
    const std::uint32_t end = chunk.l2_begin[i + 1];
    if (begin == end) {
      continue;
    }
    const std::uint16_t sm = chunk.transactions[i].sm;
    const auto kind = static_cast<std::size_t>(chunk.transactions[i].kind);
    TransactionOutcome& outcome = outcome_of(chunk, i);
    outcome.l2_requests = end - begin;
    l2_accesses_of_requests_ += std::uint64_t{end - begin} * chunk.transactions[i].lanes;
    check_accesses(l2_accesses_of_requests_, *options_);
    for (std::uint32_t k = begin; k < end; ++k) {
      const Tally::Access access = cache.access(k);
      outcome.l2_hits += access.hit;
      tallies_[kind].add(access);
      sm_tallies_[sm].add(access);
      if (!distances_.empty()) {
        distances_[kind].add(cache.distances()[k], 1);
      }
      if (!exact) {
        tallies_[kind].add_filled(cache.filled(k));
        sm_tallies_[sm].add_filled(cache.filled(k));
        to_memory(outcome, chunk.l2[k], kOne - access.hit);
      }
    }
    for (; down != all_down.end() && down->cause < end; ++down) {
      add_traffic(*down, traffic_[kind]);
      add_traffic(*down, sm_traffic_[sm]);
      to_memory(outcome, {down->line, down->sectors, down->store}, kOne);
    }
  }
}

void LowerLevel::end_window(WindowSums& window) {
  if (cache_) {
    for (std::size_t sm = 0; sm < sm_tallies_.size(); ++sm) {
      sm_tallies_[sm].add_to(sm_traffic_[sm], cache_->exact());
      window.sms[sm][kL2] = sm_traffic_[sm];
      sm_tallies_[sm] = {};
      sm_traffic_[sm] = {};
    }
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      tallies_[kind].add_to(traffic_[kind], cache_->exact());
    }
    window.levels[kL2] = traffic_;
    tallies_ = {};
    traffic_ = {};
  }
  window.dram_read_bytes = window_read_ + (dram_read_ + kOne / 2) / kOne;
  window.dram_write_bytes = dram_write_;
  window_read_ = 0;
  dram_read_ = 0;
  dram_write_ = 0;
}

void LowerLevel::move_distances(LevelResult& result) {
  memory::move_distances(options_->histograms, distances_, result);
}

void LowerLevel::finish(LevelResult& result) const {
  result.geometry = models_.geometry;
  result.model = models_.spec;
  if (!cache_) {
    return;
  }
  result.counts = cache_->counts();
  result.histogram = stacks_ ? stacks_->histograms().front() : cache_->histogram();
  merge_parts(result.parts, cache_->parts());
  result.caches = result.counts.accesses == 0 ? 0 : 1;
  if (models_.evictions) {
    result.evictions = cache_->eviction_matrix();
  }
}

}  // namespace rayreplay::memory
