// Sets of 17 to 256 ways: tags are scanned, the order of use is a ring of links in bytes.
//
// Contract: an organisation, as ranked_sets.hpp says. The ring of a set runs from the most recent way (`head_`) to the
// victim, which stands before the head. Empty ways stand at its end, the lowest last.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/caches/ranked_sets.hpp"

namespace rayreplay::memory {

template <class Tag>
class LinkedSets {
 public:
  LinkedSets(std::uint64_t sets, std::uint64_t ways)
      : index_(sets),
        ways_(ways),
        padded_((ways + kScan - 1) / kScan * kScan),
        tag_(sets * padded_, kNoTag),
        next_(sets * ways),
        before_(sets * ways),
        valid_(sets * ways),
        dirty_(sets * ways),
        head_(sets, static_cast<std::uint8_t>(ways - 1)) {
    for (std::uint64_t set = 0; set < sets; ++set) {
      for (std::uint64_t way = 0; way < ways; ++way) {
        next_[set * ways + way] = static_cast<std::uint8_t>(way == 0 ? ways - 1 : way - 1);
        before_[set * ways + way] = static_cast<std::uint8_t>(way + 1 == ways ? 0 : way + 1);
      }
    }
  }
  /// The same state with wider tags.
  template <class Other>
  explicit LinkedSets(const LinkedSets<Other>& other)
      : index_(other.index_),
        ways_(other.ways_),
        padded_(other.padded_),
        tag_(other.tag_.size(), kNoTag),
        next_(other.next_),
        before_(other.before_),
        valid_(other.valid_),
        dirty_(other.dirty_),
        head_(other.head_) {
    for (std::size_t i = 0; i < tag_.size(); ++i) {
      if (other.tag_[i] != LinkedSets<Other>::kNoTag) {
        tag_[i] = other.tag_[i];
      }
    }
  }

  [[nodiscard]] const SetIndex& index() const {
    return index_;
  }
  void prefetch(const CachePlace& place) const {
    for (std::uint64_t i = 0; i < padded_; i += 64 / sizeof(Tag)) {
      __builtin_prefetch(&tag_[place.set * padded_ + i]);
    }
  }
  [[nodiscard]] std::uint32_t find(const CachePlace& place) const {
    const Tag* tags = &tag_[place.set * padded_];
    const auto tag = static_cast<Tag>(place.tag);
    if (tags[head_[place.set]] == tag) {
      return head_[place.set];
    }
    for (std::uint64_t i = 0; i < padded_; i += kScan) {
      if (const std::uint32_t found = match_tags<kScan>(tags + i, tag); found != 0) {
        return static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(std::countr_zero(found));
      }
    }
    return kNoWay;
  }
  void promote(const CachePlace& place, std::uint32_t way) {
    std::uint8_t& head = head_[place.set];
    if (way == head) {
      return;
    }
    const auto self = static_cast<std::uint8_t>(way);
    std::uint8_t* next = &next_[place.set * ways_];
    std::uint8_t* before = &before_[place.set * ways_];
    const std::uint8_t last = before[head];
    if (self != last) {
      next[before[self]] = next[self];
      before[next[self]] = before[self];
      next[last] = self;
      before[self] = last;
      next[self] = head;
      before[head] = self;
    }
    head = self;
  }
  template <class Choose>
  std::uint32_t replace(const CachePlace& place, const Choose& choose, Evicted& evicted) {
    std::uint32_t way = before_[place.set * ways_ + head_[place.set]];
    if (valid(place, way) != 0) {
      way = choose(way);
    }
    Tag& tag = tag_[place.set * padded_ + way];
    evicted = {index_.line(tag, place.set), valid(place, way), dirty(place, way)};
    tag = static_cast<Tag>(place.tag);
    promote(place, way);
    return way;
  }
  [[nodiscard]] std::uint8_t& valid(const CachePlace& place, std::uint32_t way) {
    return valid_[place.set * ways_ + way];
  }
  [[nodiscard]] std::uint8_t& dirty(const CachePlace& place, std::uint32_t way) {
    return dirty_[place.set * ways_ + way];
  }

 private:
  template <class>
  friend class LinkedSets;

  static constexpr Tag kNoTag = ~Tag{0};
  static constexpr std::size_t kScan = 16;

  SetIndex index_;
  std::uint64_t ways_, padded_;
  std::vector<Tag> tag_;                                     ///< padded_ of each set
  std::vector<std::uint8_t> next_, before_, valid_, dirty_;  ///< ways_ of each set
  std::vector<std::uint8_t> head_;
};

}  // namespace rayreplay::memory
