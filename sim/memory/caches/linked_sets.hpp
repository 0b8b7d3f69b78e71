// Sets of 17 to 256 ways: a scan over 16 bits of each tag, and LRU order as a ring of one-byte links.
//
// Contract: an organisation as in ranked_sets.hpp. Marks (the low bits of tags) of a set are compared 64 at once; the
// full tag decides. The ring of a set runs from the most recent way (`head`) to the victim, which precedes the head.
// Empty ways are at its end, the lowest last.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/caches/ranked_sets.hpp"

namespace rayreplay::memory {

class LinkedSets {
 public:
  LinkedSets(std::uint64_t sets, std::uint64_t ways)
      : index_(sets),
        ways_(ways),
        padded_((ways + kScan - 1) / kScan * kScan),
        mark_(sets * padded_),
        way_(sets * ways),
        head_(sets, static_cast<std::uint8_t>(ways - 1)) {
    for (std::uint64_t set = 0; set < sets; ++set) {
      for (std::uint64_t way = 0; way < ways; ++way) {
        Way& self = way_[set * ways + way];
        self.next = static_cast<std::uint8_t>(way == 0 ? ways - 1 : way - 1);
        self.before = static_cast<std::uint8_t>(way + 1 == ways ? 0 : way + 1);
      }
    }
  }

  [[nodiscard]] const SetIndex& index() const {
    return index_;
  }

 private:
  static constexpr std::uint32_t kScan = 64;                  ///< marks compared at once
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};  // no line has this tag (cache_model.hpp)
  struct Way {
    std::uint64_t tag = kNoTag;
    std::uint8_t next = 0, before = 0;
    std::uint8_t valid = 0, dirty = 0;
  };

 public:
  /// A view for the inner loop; valid until the object moves.
  class View {
   public:
    explicit View(LinkedSets& sets)
        : index_(sets.index_),
          ways_(sets.ways_),
          padded_(sets.padded_),
          mark_(sets.mark_.data()),
          way_(sets.way_.data()),
          head_(sets.head_.data()) {}

    [[nodiscard]] CachePlace place(std::uint64_t line) const {
      return index_.place(line);
    }
    void prefetch(const CachePlace& place) const {
      for (std::uint64_t i = 0; i < padded_; i += kScan / 2) {
        __builtin_prefetch(&mark_[place.set * padded_ + i]);
      }
    }
    [[nodiscard]] std::uint32_t find(const CachePlace& place) const {
      const Way* ways = &way_[place.set * ways_];
      const std::uint16_t* marks = &mark_[place.set * padded_];
      for (std::uint32_t i = 0; i < padded_; i += kScan) {
        std::uint64_t found = match_marks(marks + i, static_cast<std::uint16_t>(place.tag));
        for (; found != 0; found &= found - 1) {
          const std::uint32_t way = i + static_cast<std::uint32_t>(std::countr_zero(found));
          if (way < ways_ && ways[way].tag == place.tag) {
            return way;
          }
        }
      }
      return kNoWay;
    }
    void promote(const CachePlace& place, std::uint32_t way) {
      std::uint8_t& head = head_[place.set];
      if (way == head) {
        return;
      }
      Way* ways = &way_[place.set * ways_];
      const auto self = static_cast<std::uint8_t>(way);
      const std::uint8_t first = head;
      const std::uint8_t last = ways[first].before;
      if (self != last) {
        const std::uint8_t next = ways[self].next;
        const std::uint8_t before = ways[self].before;
        ways[before].next = next;
        ways[next].before = before;
        ways[last].next = self;
        ways[first].before = self;
        ways[self].before = last;
        ways[self].next = first;
      }
      head = self;
    }
    template <Replacement kReplacement, class Choose>
    std::uint32_t replace(const CachePlace& place, const Choose& choose, Evicted& evicted) {
      Way* ways = &way_[place.set * ways_];
      std::uint32_t way = ways[head_[place.set]].before;
      if (kReplacement == Replacement::Random && ways[way].valid != 0) {
        way = choose();
      } else {
        head_[place.set] = static_cast<std::uint8_t>(way);  // the victim preceded the head
      }
      Way& self = ways[way];
      evicted = {index_.line(self.tag, place.set), self.valid, self.dirty};
      self.tag = place.tag;
      mark_[place.set * padded_ + way] = static_cast<std::uint16_t>(place.tag);
      return way;
    }
    [[nodiscard]] std::uint8_t& valid(const CachePlace& place, std::uint32_t way) {
      return way_[place.set * ways_ + way].valid;
    }
    [[nodiscard]] std::uint8_t& dirty(const CachePlace& place, std::uint32_t way) {
      return way_[place.set * ways_ + way].dirty;
    }

   private:
    SetIndex index_;
    std::uint64_t ways_, padded_;
    std::uint16_t* mark_;
    Way* way_;
    std::uint8_t* head_;
  };
  [[nodiscard]] View view() {
    return View(*this);
  }

 private:
  SetIndex index_;
  std::uint64_t ways_, padded_;
  std::vector<std::uint16_t> mark_;  ///< padded_ entries a set
  std::vector<Way> way_;             ///< ways_ entries a set
  std::vector<std::uint8_t> head_;
};

}  // namespace rayreplay::memory
