// One cache of the hierarchy with everything that is asked about it.
//
// Contract: accesses in order, in pieces of any size. `access` gives hits (caches/cache_model.hpp), reuse distances in
// the cache's own stream of lines if the level has them, and what goes down, which an exact cache of the same geometry
// (`filter`) decides where the model itself does not know. Sums of traffic are the model's own (sums.hpp): of an exact
// one what goes down, entry by entry; of another `add` has them. Memory: the cache, the stack, the buffers of the
// largest call.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/sector_count.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/reuse/histogram.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {

/// What the caches of a level have in common.
struct LevelModels {
  CacheGeometry geometry;
  std::unique_ptr<CacheModel> model;   ///< null: there is no such level
  std::unique_ptr<CacheModel> filter;  ///< decides what goes down, where `model` does not know; null: not wanted
  std::string spec;
  const ReuseEngine* engine = nullptr;  ///< null: no distances

  [[nodiscard]] bool present() const {
    return model != nullptr;
  }
};

/// Adds what an exact cache asks of the level below.
inline void add_traffic(const DownAccess& access, LevelSums& sums) {
  const std::uint64_t sectors = sector_count(access.sectors);
  if (access.store) {
    sums.written += sectors;
  } else {
    sums.filled += sectors * kOneSector;
  }
}

class CacheUnit {
 public:
  explicit CacheUnit(const LevelModels& models)
      : cache_(models.model->make(models.geometry)),
        filter_(models.filter == nullptr ? nullptr : models.filter->make(models.geometry)),
        stack_(models.engine == nullptr ? nullptr : models.engine->make()),
        lines_limit_(models.geometry.lines()),
        exact_(models.model->exact()) {}

  /// Afterwards `hit(i)`, `add(i, …)` and `down` hold for these accesses.
  void access(std::span<const LineAccess> accesses) {
    accesses_ = accesses;
    hit_.resize(accesses.size());
    down_.clear();
    if (stack_ != nullptr) {
      lines_.resize(accesses.size());
      distances_.resize(accesses.size());
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        lines_[i] = accesses[i].line;
      }
      stack_->distances(lines_, distances_);
      histogram_.add(distances_);
    }
    cache_->access(accesses, distances_, hit_, exact_ ? &down_ : nullptr);
    if (filter_ != nullptr) {
      filter_hit_.resize(accesses.size());
      filter_->access(accesses, {}, filter_hit_, &down_);
    }
  }

  /// What goes to the level below, in order; of a model that does not know, and has no filter, nothing.
  [[nodiscard]] std::span<const DownAccess> down() const {
    return down_;
  }
  /// Whether the model is, so that `down` is its own.
  [[nodiscard]] bool exact() const {
    return exact_;
  }

  /// Probability that access i hit, in fixed point.
  [[nodiscard]] std::uint32_t hit(std::size_t i) const {
    return hit_[i] & ~kSectorMiss;
  }
  /// Adds access i; of an exact model without its traffic.
  void add(std::size_t i, LevelSums& sums) const {
    const std::uint64_t p = hit(i);
    const std::uint64_t missed = kOne - p;
    const std::uint64_t sectors = sector_count(accesses_[i].sectors);
    const std::uint64_t loaded = accesses_[i].store ? 0 : sectors;
    ++sums.accesses;
    sums.hits += p;
    sums.stores += static_cast<std::uint64_t>(accesses_[i].store);
    sums.sectors += sectors;
    sums.load_sectors += loaded;
    sums.sector_misses += hit_[i] >> 31U;
    if (!exact_) {
      constexpr std::uint64_t kUnit = kOne / kOneSector;
      sums.filled += (loaded * missed + kUnit / 2) / kUnit;
      sums.written += sectors - loaded;
    }
    if (stack_ == nullptr) {
      return;
    }
    const std::uint32_t distance = distances_[i];
    if (distance == kInfinite) {
      sums.cold += missed;
    } else if (distance == kNotSampled) {
      return;
    } else if (distance >= lines_limit_) {
      sums.capacity += missed;
      sums.beyond += p;
    } else {
      sums.conflict += missed;
    }
  }
  [[nodiscard]] CacheCounts counts() const {
    return cache_->counts();
  }
  [[nodiscard]] const ReuseHistogram& histogram() const {
    return histogram_;
  }

 private:
  std::unique_ptr<Cache> cache_, filter_;
  std::unique_ptr<ReuseStack> stack_;
  std::uint64_t lines_limit_;
  bool exact_;
  ReuseHistogram histogram_;
  std::span<const LineAccess> accesses_;
  std::vector<std::uint32_t> hit_, filter_hit_, distances_;
  std::vector<std::uint64_t> lines_;
  std::vector<DownAccess> down_;
};

}  // namespace rayreplay::memory
