// Sets of at most 16 ways: tags that never move, and a word of 4-bit ranks.
//
// Contract: an organisation (set_associative.hpp) has a `view` with `place`, `prefetch`, `find`, `promote`, `replace`
// and the sector masks of a way; kNoWay means not found. The rank word of a set lists its ways, the most recent one in
// the lowest 4 bits. Empty ways follow all others, the lowest empty way last, so the victim is always the last rank. A
// search for 4 zero bits finds a rank; shifts move it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/memory/caches/set_associative.hpp"
#include "sim/memory/caches/set_index.hpp"
#include "sim/memory/caches/tag_match.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kNoWay = 0xFFFF'FFFFU;

/// The old content of a replaced way. valid 0: empty.
struct Evicted {
  std::uint64_t line = 0;
  std::uint8_t valid = 0;
  std::uint8_t dirty = 0;
};

template <class Tag, std::size_t kWays>
class RankedSets {
 public:
  RankedSets(std::uint64_t sets, std::uint64_t ways)
      : index_(sets), last_(4 * (static_cast<std::uint32_t>(ways) - 1)), sets_(sets) {
    std::uint64_t order = 0;
    for (std::uint64_t rank = 0; rank < ways; ++rank) {
      order |= (ways - 1 - rank) << (4 * rank);  // way 0 last
    }
    for (Set& set : sets_) {
      set.tag.fill(kNoTag);
      set.order = order;
    }
  }
  /// Copies the state to wider tags.
  template <class Other>
  explicit RankedSets(const RankedSets<Other, kWays>& other)
      : index_(other.index_), last_(other.last_), sets_(other.sets_.size()) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      for (std::size_t way = 0; way < kWays; ++way) {
        sets_[i].tag[way] = other.sets_[i].valid[way] == 0 ? kNoTag : other.sets_[i].tag[way];
      }
      sets_[i].order = other.sets_[i].order;
      sets_[i].valid = other.sets_[i].valid;
      sets_[i].dirty = other.sets_[i].dirty;
    }
  }

  [[nodiscard]] const SetIndex& index() const {
    return index_;
  }

 private:
  static constexpr Tag kNoTag = ~Tag{0};
  struct Set {
    std::array<Tag, kWays> tag{};
    std::uint64_t order = 0;
    std::array<std::uint8_t, kWays> valid{};
    std::array<std::uint8_t, kWays> dirty{};
  };

 public:
  /// A view for the inner loop; valid until the object moves.
  class View {
   public:
    explicit View(RankedSets& sets) : index_(sets.index_), last_(sets.last_), sets_(sets.sets_.data()) {}

    [[nodiscard]] CachePlace place(std::uint64_t line) const {
      return index_.place(line);
    }
    void prefetch(const CachePlace& place) const {
      const auto* set = reinterpret_cast<const char*>(&sets_[place.set]);
      __builtin_prefetch(set, 1);
      if constexpr (sizeof(Set) > 64) {
        __builtin_prefetch(set + 64, 1);
      }
    }
    [[nodiscard]] std::uint32_t find(const CachePlace& place) const {
      const std::uint32_t found = match_tags<kWays>(sets_[place.set].tag.data(), static_cast<Tag>(place.tag));
      return found == 0 ? kNoWay : static_cast<std::uint32_t>(std::countr_zero(found));
    }
    void promote(const CachePlace& place, std::uint32_t way) {
      std::uint64_t& order = sets_[place.set].order;
      constexpr std::uint64_t kOnes = 0x1111'1111'1111'1111U;
      const std::uint64_t differ = order ^ (kOnes * way);
      // The lowest 4 zero bits; higher matches may be false positives or belong to missing ranks.
      const std::uint64_t zero = (differ - kOnes) & ~differ & (kOnes << 3U);
      const std::uint64_t below = (zero ^ (zero - 1)) >> 4U;  // the bits of lower ranks
      const std::uint64_t upto = below << 4U | 0xFU;
      order = (order & ~upto) | (order & below) << 4U | way;
    }
    /// Puts the line into the victim's way and makes it the first rank. In a full set the victim is the last rank, or
    /// `choose` decides (Random). The old content goes to `evicted`; the caller sets the sector masks.
    template <Replacement kReplacement, class Choose>
    std::uint32_t replace(const CachePlace& place, const Choose& choose, Evicted& evicted) {
      Set& set = sets_[place.set];
      auto way = static_cast<std::uint32_t>(set.order >> last_ & 0xFU);
      if constexpr (kReplacement == Replacement::Random) {
        if (set.valid[way] != 0) {
          way = choose();
          evicted = {index_.line(set.tag[way], place.set), set.valid[way], set.dirty[way]};
          set.tag[way] = static_cast<Tag>(place.tag);
          return way;  // ranks are unused once the set is full
        }
      }
      evicted = {index_.line(set.tag[way], place.set), set.valid[way], set.dirty[way]};
      set.tag[way] = static_cast<Tag>(place.tag);
      set.order = set.order << 4U | way;
      return way;
    }
    [[nodiscard]] std::uint8_t& valid(const CachePlace& place, std::uint32_t way) {
      return sets_[place.set].valid[way];
    }
    [[nodiscard]] std::uint8_t& dirty(const CachePlace& place, std::uint32_t way) {
      return sets_[place.set].dirty[way];
    }

   private:
    SetIndex index_;
    std::uint32_t last_;
    Set* sets_;
  };
  [[nodiscard]] View view() {
    return View(*this);
  }

 private:
  template <class, std::size_t>
  friend class RankedSets;

  SetIndex index_;
  std::uint32_t last_;  ///< shift of the last rank
  std::vector<Set> sets_;
};

}  // namespace rayreplay::memory
