#include "sim/memory/caches/set_associative.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "base/split_mix.hpp"
#include "sim/memory/caches/hashed_sets.hpp"
#include "sim/memory/caches/linked_sets.hpp"
#include "sim/memory/caches/ranked_sets.hpp"
#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {
namespace {

/// Accesses whose sets are fetched together before they are looked at.
constexpr std::size_t kBatch = 64;

template <std::size_t kWays>
struct Ranked {
  template <class Tag>
  using Sets = RankedSets<Tag, kWays>;
};
struct Linked {
  template <class Tag>
  using Sets = LinkedSets<Tag>;
};
struct Hashed {
  template <class Tag>
  using Sets = HashedSets;
};

template <class Organisation>
class SetAssociativeCache final : public Cache {
 public:
  SetAssociativeCache(const CacheGeometry& geometry, const CachePolicy& policy)
      : policy_(policy),
        ways_(geometry.associativity()),
        sets_(std::in_place_index<0>, geometry.sets(), geometry.associativity()),
        limit_(std::get<0>(sets_).index().short_tag_limit()) {}

  void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> /*distances*/,
              std::span<std::uint32_t> hit, std::vector<DownAccess>* down) override {
    counts_.accesses += accesses.size();
    down_ = down;
    for (std::size_t i = 0; i < accesses.size(); i += kBatch) {
      const std::span<const LineAccess> batch = accesses.subspan(i, std::min(kBatch, accesses.size() - i));
      if constexpr (!kAnyTag) {
        widen_for(batch);
        if (sets_.index() == 1) {
          run(std::get<1>(sets_), batch, &hit[i], static_cast<std::uint32_t>(i));
          continue;
        }
      }
      run(std::get<0>(sets_), batch, &hit[i], static_cast<std::uint32_t>(i));
    }
  }

  [[nodiscard]] CacheCounts counts() const override {
    return counts_;
  }

 private:
  using Short = typename Organisation::template Sets<std::uint32_t>;
  using Long = typename Organisation::template Sets<std::uint64_t>;
  static constexpr bool kAnyTag = std::is_same_v<Short, Long>;

  void widen_for(std::span<const LineAccess> batch) {
    if (sets_.index() == 1) {
      return;
    }
    std::uint64_t largest = 0;
    for (const LineAccess& access : batch) {
      largest = std::max(largest, access.line);
    }
    if (largest > limit_) {
      Long wide(std::get<0>(sets_));
      sets_.template emplace<1>(std::move(wide));
    }
  }

  template <class Sets>
  void run(Sets& sets, std::span<const LineAccess> batch, std::uint32_t* hit, std::uint32_t cause) {
    switch (policy_.replacement) {
      case Replacement::Lru:
        return run<Replacement::Lru>(sets, batch, hit, cause);
      case Replacement::Fifo:
        return run<Replacement::Fifo>(sets, batch, hit, cause);
      case Replacement::Random:
        return run<Replacement::Random>(sets, batch, hit, cause);
    }
  }

  template <Replacement kReplacement, class Sets>
  void run(Sets& sets, std::span<const LineAccess> batch, std::uint32_t* hit, std::uint32_t cause) {
    std::array<CachePlace, kBatch> places;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      places[i] = sets.index().place(batch[i].line);
      sets.prefetch(places[i]);
    }
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < batch.size(); ++i, ++cause) {
      const CachePlace& place = places[i];
      const LineAccess& access = batch[i];
      const std::uint32_t way = sets.find(place);
      if (way == kNoWay) {
        hit[i] = 0;
        miss<kReplacement>(sets, place, access, cause);
        continue;
      }
      if constexpr (kReplacement == Replacement::Lru) {
        sets.promote(place, way);
      }
      const auto missing = static_cast<std::uint8_t>(access.sectors & ~sets.valid(place, way));
      if (missing == 0) {
        hit[i] = kOne;
        ++hits;
        if (!access.store) {
          continue;
        }
      } else {
        hit[i] = kSectorMiss;
        ++counts_.sector_misses;
      }
      found(sets, place, way, access, missing, cause);
    }
    counts_.hits += hits * kOne;
  }

  /// The line is there; what is left to do for stores and missing sectors.
  template <class Sets>
  void found(Sets& sets, const CachePlace& place, std::uint32_t way, const LineAccess& access, std::uint8_t missing,
             std::uint32_t cause) {
    std::uint8_t& valid = sets.valid(place, way);
    if (!access.store) {
      valid |= missing;
      fill(access.line, missing, cause);
      return;
    }
    if (policy_.allocate) {
      valid |= access.sectors;
    }
    std::uint8_t written = access.sectors;
    if (policy_.write_back) {
      const auto kept = static_cast<std::uint8_t>(access.sectors & valid);
      sets.dirty(place, way) |= kept;
      written = static_cast<std::uint8_t>(access.sectors & ~kept);
    }
    write(access.line, written, cause);
  }

  template <Replacement kReplacement, class Sets>
  void miss(Sets& sets, const CachePlace& place, const LineAccess& access, std::uint32_t cause) {
    if (access.store && !policy_.allocate) {
      write(access.line, access.sectors, cause);
      return;
    }
    Evicted evicted;
    const std::uint32_t way = sets.replace(
        place,
        [this](std::uint32_t last) {
          if constexpr (kReplacement == Replacement::Random) {
            return static_cast<std::uint32_t>((split_mix(policy_.seed, counts_.evictions) >> 32U) * ways_ >> 32U);
          }
          return last;
        },
        evicted);
    if (evicted.valid != 0) {
      ++counts_.evictions;
      write(evicted.line, evicted.dirty, cause);
    }
    sets.valid(place, way) = access.sectors;
    sets.dirty(place, way) = access.store && policy_.write_back ? access.sectors : std::uint8_t{0};
    if (!access.store) {
      fill(access.line, access.sectors, cause);
    } else if (!policy_.write_back) {
      write(access.line, access.sectors, cause);
    }
  }

  void fill(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause) {
    counts_.sectors_filled += sector_count(sectors);
    if (down_ != nullptr) {
      down_->push_back({line, cause, sectors, false});
    }
  }
  void write(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause) {
    if (sectors == 0) {
      return;
    }
    counts_.sectors_written += sector_count(sectors);
    if (down_ != nullptr) {
      down_->push_back({line, cause, sectors, true});
    }
  }

  CachePolicy policy_;
  std::uint64_t ways_;
  std::variant<Short, std::conditional_t<kAnyTag, std::monostate, Long>> sets_;
  std::uint64_t limit_;  ///< lines above it need long tags
  CacheCounts counts_;
  std::vector<DownAccess>* down_ = nullptr;  ///< of the call
};

}  // namespace

std::unique_ptr<Cache> make_set_associative(const CacheGeometry& geometry, const CachePolicy& policy) {
  const std::uint64_t ways = geometry.associativity();
  if (ways <= 4) {
    return std::make_unique<SetAssociativeCache<Ranked<4>>>(geometry, policy);
  }
  if (ways <= 8) {
    return std::make_unique<SetAssociativeCache<Ranked<8>>>(geometry, policy);
  }
  if (ways <= 16) {
    return std::make_unique<SetAssociativeCache<Ranked<16>>>(geometry, policy);
  }
  if (ways <= kScannedWays) {
    return std::make_unique<SetAssociativeCache<Linked>>(geometry, policy);
  }
  return std::make_unique<SetAssociativeCache<Hashed>>(geometry, policy);
}

std::vector<Parameter> write_parameters() {
  Parameter write;
  write.name = "write";
  write.default_value = std::string("back");
  write.text = "Whether stores stay in the cache until their line is evicted (back) or go down at once (through).";
  write.choices = {"back", "through"};
  Parameter allocate;
  allocate.name = "allocate";
  allocate.default_value = true;
  allocate.text = "Whether a store that misses takes a line, without fetching it.";
  return {write, allocate};
}

CachePolicy write_policy(const Parameters& parameters) {
  return {.replacement = Replacement::Lru,
          .write_back = parameters.get_string("write") == "back",
          .allocate = parameters.get_bool("allocate"),
          .seed = 0};
}

}  // namespace rayreplay::memory
