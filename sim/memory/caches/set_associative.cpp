#include "sim/memory/caches/set_associative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/memory/caches/hashed_sets.hpp"
#include "sim/memory/caches/linked_sets.hpp"
#include "sim/memory/caches/ranked_sets.hpp"
#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {
namespace {

/// Accesses whose sets are prefetched together.
constexpr std::size_t kBatch = 64;

template <std::size_t kWays>
struct Ranked {
  template <class Tag>
  using Sets = RankedSets<Tag, kWays>;
};
struct Linked {
  template <class Tag>
  using Sets = LinkedSets;
};
struct Hashed {
  template <class Tag>
  using Sets = HashedSets;
};

/// Of one batch. An access makes at most a writeback and one fill or store request to the next level.
struct Buffers {
  std::vector<CachePlace> places = std::vector<CachePlace>(kBatch);
  std::vector<DownAccess> down = std::vector<DownAccess>(2 * kBatch);
  std::vector<Eviction>* evictions = nullptr;  ///< null: not recorded
};

/// The rules of set_associative.hpp, for at most kBatch accesses.
template <Replacement kReplacement, class View>
class BatchRun {
 public:
  BatchRun(const View& sets, const CachePolicy& policy, std::uint64_t ways, const CacheCounts& counts, Buffers& buffers)
      : sets_(sets),
        policy_(policy),
        ways_(ways),
        counts_(counts),
        places_(buffers.places.data()),
        down_(buffers.down.data()),
        evictions_(buffers.evictions) {}

  void all(std::span<const LineAccess> batch, std::uint32_t* hit, std::uint32_t cause) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      places_[i] = sets_.place(batch[i].line);
      sets_.prefetch(places_[i]);
    }
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < batch.size(); ++i, ++cause) {
      const LineAccess access = batch[i];
      const CachePlace place = places_[i];
      const std::uint32_t way = sets_.find(place);
      if (way == kNoWay) {
        hit[i] = 0;
        miss(place, access, cause);
        continue;
      }
      if constexpr (kReplacement == Replacement::Lru) {
        sets_.promote(place, way);
      }
      const auto missing = static_cast<std::uint8_t>(access.sectors & ~sets_.valid(place, way));
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
      found(place, way, access, missing, cause);
    }
    counts_.hits += hits * kOne;
    counts_.accesses += batch.size();
  }

  [[nodiscard]] const CacheCounts& counts() const {
    return counts_;
  }
  [[nodiscard]] std::span<const DownAccess> down() const {
    return {down_, sent_};
  }

 private:
  /// The line is present; handles stores and missing sectors.
  void found(const CachePlace& place, std::uint32_t way, const LineAccess& access, std::uint8_t missing,
             std::uint32_t cause) {
    std::uint8_t& valid = sets_.valid(place, way);
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
      sets_.dirty(place, way) |= kept;
      written = static_cast<std::uint8_t>(access.sectors & ~kept);
    }
    write(access.line, written, cause);
  }

  void miss(const CachePlace& place, const LineAccess& access, std::uint32_t cause) {
    if (access.store && !policy_.allocate) {
      write(access.line, access.sectors, cause);
      return;
    }
    Evicted evicted;
    const std::uint32_t way = sets_.template replace<kReplacement>(
        place,
        [this] {
          return static_cast<std::uint32_t>((split_mix(policy_.seed, counts_.evictions) >> 32U) * ways_ >> 32U);
        },
        evicted);
    if (evicted.valid != 0) {
      ++counts_.evictions;
      if (evictions_ != nullptr) {
        record(*evictions_, evicted.line, cause);
      }
      write(evicted.line, evicted.dirty, cause);
    }
    sets_.valid(place, way) = access.sectors;
    sets_.dirty(place, way) = access.store && policy_.write_back ? access.sectors : std::uint8_t{0};
    if (!access.store) {
      fill(access.line, access.sectors, cause);
    } else if (!policy_.write_back) {
      write(access.line, access.sectors, cause);
    }
  }

  /// Out of line, and static: the inner loop stays small, and members in registers, where nothing is recorded.
  [[gnu::noinline]] static void record(std::vector<Eviction>& to, std::uint64_t line, std::uint32_t cause) {
    to.push_back({line, cause});
  }
  void fill(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause) {
    counts_.sectors_filled += sector_count(sectors);
    down_[sent_++] = {line, cause, sectors, false};
  }
  void write(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause) {
    if (sectors == 0) {
      return;
    }
    counts_.sectors_written += sector_count(sectors);
    down_[sent_++] = {line, cause, sectors, true};
  }

  View sets_;
  CachePolicy policy_;
  std::uint64_t ways_;
  CacheCounts counts_;
  std::size_t sent_ = 0;
  CachePlace* places_;
  DownAccess* down_;
  std::vector<Eviction>* evictions_;
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
  void record_evictions(std::vector<Eviction>* to) override {
    buffers_.evictions = to;
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
    // Locals only: the compiler must assume that byte stores to the sets alias any member.
    BatchRun<kReplacement, typename Sets::View> run(sets.view(), policy_, ways_, counts_, buffers_);
    run.all(batch, hit, cause);
    counts_ = run.counts();
    if (down_ != nullptr) {
      const std::span<const DownAccess> sent = run.down();
      down_->insert(down_->end(), sent.begin(), sent.end());
    }
  }

  CachePolicy policy_;
  std::uint64_t ways_;
  std::variant<Short, std::conditional_t<kAnyTag, std::monostate, Long>> sets_;
  std::uint64_t limit_;  ///< higher lines need long tags
  CacheCounts counts_;
  Buffers buffers_;
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
  if (geometry.lines() > HashedSets::kMaxLines) {
    throw Error(ErrorKind::Usage,
                {"an exact cache of so many ways has too many lines", to_string(geometry),
                 fmt::format("{}", geometry.lines()), fmt::format("at most {}", HashedSets::kMaxLines),
                 fmt::format("take at most {} ways, or the model sdcm", kScannedWays)});
  }
  return std::make_unique<SetAssociativeCache<Hashed>>(geometry, policy);
}

std::vector<Parameter> write_parameters() {
  return {
      declare::choice(
          "write", "back", {"back", "through"},
          "Whether stores stay in the cache until their line is evicted (back) or go down at once (through)."),
      declare::flag("allocate", true, "Whether a store that misses takes a line, without fetching it."),
  };
}

CachePolicy write_policy(const Parameters& parameters, Replacement replacement) {
  return {.replacement = replacement,
          .write_back = parameters.get_string("write") == "back",
          .allocate = parameters.get_bool("allocate"),
          .seed = 0};
}

}  // namespace rayreplay::memory
