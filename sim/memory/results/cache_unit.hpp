// One cache of the hierarchy with everything that is asked about it.
//
// Contract: accesses in order, in pieces of any size. `access` gives hits (caches/cache_model.hpp), reuse distances in
// the cache's own stream of lines if the level has them (its own stack's, or given), and what goes down, which an exact
// cache of the same geometry
// (`filter`) decides where the model itself does not know. Sums of traffic are the model's own (sums.hpp): of an exact
// one what goes down, entry by entry; of another `filled` and what is stored. Memory: the cache, the stack, the buffers
// of the largest call.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/sector_count.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/results/tally.hpp"
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
  bool given = false;                   ///< distances come with the accesses, from elsewhere

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
        stack_(models.engine == nullptr || models.given ? nullptr : models.engine->make()),
        has_distances_(models.engine != nullptr),
        lines_limit_(models.geometry.lines()),
        exact_(models.model->exact()) {}

  /// Afterwards `hit`, `access(i)`, `filled` and `down` hold for these accesses. `distances`: if they are given; must
  /// live as long.
  void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances = {}) {
    accesses_ = accesses;
    distances_ = distances;
    hit_.resize(accesses.size());
    down_.clear();
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
  /// Access i, to be tallied.
  [[nodiscard]] Tally::Access access(std::size_t i) const {
    return {.miss = has_distances_ ? miss_class(i) : MissClass::Unknown,
            .store = accesses_[i].store,
            .hit = hit(i),
            .sectors = sector_count(accesses_[i].sectors),
            .sector_misses = hit_[i] >> 31U};
  }
  /// What a load fetches, in the unit of LevelSums::filled; 0 of stores. Of models that know probabilities.
  [[nodiscard]] std::uint64_t filled(std::size_t i) const {
    constexpr std::uint64_t kUnit = kOne / kOneSector;
    const std::uint64_t sectors = accesses_[i].store ? 0 : sector_count(accesses_[i].sectors);
    return (sectors * (kOne - hit(i)) + kUnit / 2) / kUnit;
  }
  [[nodiscard]] CacheCounts counts() const {
    return cache_->counts();
  }
  /// Empty where distances are given.
  [[nodiscard]] const ReuseHistogram& histogram() const {
    return histogram_;
  }
  /// Of an engine that samples (ReuseStack::parts).
  [[nodiscard]] std::span<const ReuseHistogram> parts() const {
    return stack_ == nullptr ? std::span<const ReuseHistogram>() : stack_->parts();
  }

 private:
  [[nodiscard]] MissClass miss_class(std::size_t i) const {
    const std::uint32_t distance = distances_[i];
    if (distance >= kNotSampled) {
      return distance == kInfinite ? MissClass::Cold : MissClass::Unknown;
    }
    return distance >= lines_limit_ ? MissClass::Capacity : MissClass::Conflict;
  }

  std::unique_ptr<Cache> cache_, filter_;
  std::unique_ptr<ReuseStack> stack_;
  bool has_distances_;
  std::uint64_t lines_limit_;
  bool exact_;
  ReuseHistogram histogram_;
  std::span<const LineAccess> accesses_;
  std::span<const std::uint32_t> distances_;
  std::vector<std::uint32_t> hit_, filter_hit_, own_distances_;
  std::vector<std::uint64_t> lines_;
  std::vector<DownAccess> down_;
};

}  // namespace rayreplay::memory
