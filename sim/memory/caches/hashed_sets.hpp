// Sets of any number of ways: lines are found in one hash table of the whole cache.
//
// Contract: an organisation, as ranked_sets.hpp says, but a "way" is a slot: set · ways + way. O(1) an access. The
// table is open addressing with linear probing, at most half full; entries behind a hole move up when a line leaves.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/caches/ranked_sets.hpp"

namespace rayreplay::memory {

class HashedSets {
 public:
  HashedSets(std::uint64_t sets, std::uint64_t ways)
      : index_(sets),
        ways_(static_cast<std::uint32_t>(ways)),
        shift_(static_cast<std::uint32_t>(std::countl_zero(std::bit_ceil(sets * ways * 2))) + 1),
        slots_(sets * ways),
        head_(sets),
        table_(std::bit_ceil(sets * ways * 2), kNoWay) {
    for (std::uint32_t set = 0; set < sets; ++set) {
      const std::uint32_t first = set * ways_;
      for (std::uint32_t way = 0; way < ways_; ++way) {
        slots_[first + way].next = first + (way == 0 ? ways_ - 1 : way - 1);
        slots_[first + way].before = first + (way + 1 == ways_ ? 0 : way + 1);
      }
      head_[set] = first + ways_ - 1;
    }
  }

  [[nodiscard]] const SetIndex& index() const {
    return index_;
  }
  void prefetch(const CachePlace& place) const {
    __builtin_prefetch(&table_[home(index_.line(place.tag, place.set))]);
  }
  [[nodiscard]] std::uint32_t find(const CachePlace& place) const {
    const std::uint64_t line = index_.line(place.tag, place.set);
    for (std::uint64_t i = home(line);; i = after(i)) {
      if (table_[i] == kNoWay || slots_[table_[i]].line == line) {
        return table_[i];
      }
    }
  }
  void promote(const CachePlace& place, std::uint32_t slot) {
    std::uint32_t& head = head_[place.set];
    if (slot == head) {
      return;
    }
    Slot& self = slots_[slot];
    const std::uint32_t last = slots_[head].before;
    if (slot != last) {
      slots_[self.before].next = self.next;
      slots_[self.next].before = self.before;
      slots_[last].next = slot;
      self.before = last;
      self.next = head;
      slots_[head].before = slot;
    }
    head = slot;
  }
  template <class Choose>
  std::uint32_t replace(const CachePlace& place, const Choose& choose, Evicted& evicted) {
    const auto first = static_cast<std::uint32_t>(place.set) * ways_;
    std::uint32_t slot = slots_[head_[place.set]].before;
    if (slots_[slot].valid != 0) {
      slot = first + choose(slot - first);
      forget(slots_[slot].line);
    }
    Slot& self = slots_[slot];
    evicted = {self.line, self.valid, self.dirty};
    self.line = index_.line(place.tag, place.set);
    std::uint64_t i = home(self.line);
    while (table_[i] != kNoWay) {
      i = after(i);
    }
    table_[i] = slot;
    promote(place, slot);
    return slot;
  }
  [[nodiscard]] std::uint8_t& valid(const CachePlace& /*place*/, std::uint32_t slot) {
    return slots_[slot].valid;
  }
  [[nodiscard]] std::uint8_t& dirty(const CachePlace& /*place*/, std::uint32_t slot) {
    return slots_[slot].dirty;
  }

 private:
  struct Slot {
    std::uint64_t line = 0;
    std::uint32_t next = 0;
    std::uint32_t before = 0;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
  };

  [[nodiscard]] std::uint64_t home(std::uint64_t line) const {
    return (line * kSplitMixGamma) >> shift_;
  }
  [[nodiscard]] std::uint64_t after(std::uint64_t i) const {
    return (i + 1) & (table_.size() - 1);
  }
  void forget(std::uint64_t line) {
    std::uint64_t hole = home(line);
    while (slots_[table_[hole]].line != line) {
      hole = after(hole);
    }
    for (std::uint64_t i = after(hole); table_[i] != kNoWay; i = after(i)) {
      // An entry may move up unless its home lies behind the hole.
      const std::uint64_t from_home = (i - home(slots_[table_[i]].line)) & (table_.size() - 1);
      const std::uint64_t from_hole = (i - hole) & (table_.size() - 1);
      if (from_home >= from_hole) {
        table_[hole] = table_[i];
        hole = i;
      }
    }
    table_[hole] = kNoWay;
  }

  SetIndex index_;
  std::uint32_t ways_;
  std::uint32_t shift_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> head_;
  std::vector<std::uint32_t> table_;  ///< slots; kNoWay: none
};

}  // namespace rayreplay::memory
