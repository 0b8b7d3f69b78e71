// One cache of the hierarchy with all its outputs.
//
// Contract: takes accesses in order, in pieces of any size. `access` computes hits (caches/cache_model.hpp), reuse
// distances in the cache's own stream of lines if the level has them (from its own stack, or given), with them the
// causes of misses (miss_classes.hpp), and requests to the next level. An exact cache of the same geometry (`filter`)
// makes these if the model itself cannot. Traffic sums come from the model (sums.hpp): for an exact one its requests,
// else `filled` and stored sectors. With `LevelModels::evictions` it keeps a log of evictions (evictions.hpp), to which
// `log_evictions` adds the last call's accesses. Memory: the cache, the stack, the classes, the log, the buffers of the
// largest call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/sector_count.hpp"
#include "sim/memory/results/evictions.hpp"
#include "sim/memory/results/miss_classes.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/results/tally.hpp"
#include "sim/memory/reuse/histogram.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {

/// Shared by all caches of a level.
struct LevelModels {
  CacheGeometry geometry;
  std::unique_ptr<CacheModel> model;   ///< null: no such level
  std::unique_ptr<CacheModel> filter;  ///< makes requests if `model` cannot; null: requests are not needed
  std::string spec;
  const ReuseEngine* engine = nullptr;  ///< null: no distances
  bool given = false;                   ///< distances are given with the accesses
  bool evictions = false;               ///< the model is exact, and its evictions are logged

  [[nodiscard]] bool present() const {
    return model != nullptr;
  }
};

/// Adds the requests of an exact cache to the next level.
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
        stack_(models.engine == nullptr || models.given ? nullptr : models.engine->make()),
        exact_(models.model->exact()) {
    if (models.engine != nullptr) {
      classes_.emplace(*models.model, models.geometry, !models.engine->exact());
    }
    if (models.evictions) {
      log_.emplace();
      evicted_ = std::make_unique<std::vector<Eviction>>();
      cache_->record_evictions(evicted_.get());
    }
  }

  /// Afterwards `hit`, `access(i)`, `filled` and `down` are valid for these accesses. `distances`: if given; must stay
  /// valid as long.
  void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances = {}) {
    accesses_ = accesses;
    distances_ = distances;
    hit_.resize(accesses.size());
    down_.clear();
    if (evicted_ != nullptr) {
      evicted_->clear();
    }
    if (stack_ != nullptr) {
      lines_.resize(accesses.size());
      own_distances_.resize(accesses.size());
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        lines_[i] = accesses[i].line;
      }
      stack_->distances(lines_, own_distances_);
      histogram_.add(own_distances_);
      distances_ = own_distances_;
    }
    cache_->access(accesses, distances_, hit_, exact_ ? &down_ : nullptr);
    if (classes_) {
      class_.resize(accesses.size());
      classes_->classify(accesses, distances_, hit_, class_);
    }
    if (filter_ != nullptr) {
      filter_hit_.resize(accesses.size());
      filter_->access(accesses, {}, filter_hit_, &down_);
    }
  }

  /// Requests to the next level, in order; empty for a model without requests or filter.
  [[nodiscard]] std::span<const DownAccess> down() const {
    return down_;
  }
  /// True if the model is exact, so that `down` is its own.
  [[nodiscard]] bool exact() const {
    return exact_;
  }

  /// Probability that access i hit, in fixed point.
  [[nodiscard]] std::uint32_t hit(std::size_t i) const {
    return hit_[i] & ~kSectorMiss;
  }
  /// Access i in the form of the tally.
  [[nodiscard]] Tally::Access access(std::size_t i) const {
    return {.miss = classes_ ? class_[i] : MissClass::Unknown,
            .store = accesses_[i].store,
            .hit = hit(i),
            .sectors = sector_count(accesses_[i].sectors),
            .sector_misses = hit_[i] >> 31U};
  }
  /// The amount that a load fetches, in the unit of LevelSums::filled; 0 for stores. For models with probabilities.
  [[nodiscard]] std::uint64_t filled(std::size_t i) const {
    constexpr std::uint64_t kUnit = kOne / kOneSector;
    const std::uint64_t sectors = accesses_[i].store ? 0 : sector_count(accesses_[i].sectors);
    return (sectors * (kOne - hit(i)) + kUnit / 2) / kUnit;
  }
  /// Reuse distances of the accesses; empty for a level without them.
  [[nodiscard]] std::span<const std::uint32_t> distances() const {
    return classes_ ? distances_ : std::span<const std::uint32_t>();
  }
  /// Adds these accesses to the log of evictions. `kind_of(i)`: the kind of data of access i.
  template <class KindOf>
  void log_evictions(const KindOf& kind_of) {
    auto eviction = evicted_->cbegin();
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      if (hit_[i] == kOne) {
        continue;
      }
      const DataKind kind = kind_of(i);
      if (hit_[i] == kSectorMiss) {
        log_->missed_sectors(kind);
        continue;
      }
      log_->missed(accesses_[i].line, kind);
      for (; eviction != evicted_->cend() && eviction->cause == i; ++eviction) {
        log_->evicted(eviction->line, kind);
      }
    }
  }
  /// Only with `LevelModels::evictions`.
  [[nodiscard]] const EvictionMatrix& eviction_matrix() const {
    return log_->matrix();
  }
  [[nodiscard]] CacheCounts counts() const {
    return cache_->counts();
  }
  /// Empty if distances are given.
  [[nodiscard]] const ReuseHistogram& histogram() const {
    return histogram_;
  }
  /// For sampling engines (ReuseStack::parts).
  [[nodiscard]] std::span<const ReuseHistogram> parts() const {
    return stack_ == nullptr ? std::span<const ReuseHistogram>() : stack_->parts();
  }

 private:
  std::unique_ptr<Cache> cache_, filter_;
  std::unique_ptr<ReuseStack> stack_;
  bool exact_;
  std::optional<MissClasses> classes_;  ///< with distances
  ReuseHistogram histogram_;
  std::span<const LineAccess> accesses_;
  std::span<const std::uint32_t> distances_;
  std::vector<std::uint32_t> hit_, filter_hit_, own_distances_;
  std::vector<MissClass> class_;
  std::vector<std::uint64_t> lines_;
  std::vector<DownAccess> down_;
  std::optional<EvictionLog> log_;
  std::unique_ptr<std::vector<Eviction>> evicted_;  ///< of the last call; its address stays when the unit moves
};

}  // namespace rayreplay::memory
