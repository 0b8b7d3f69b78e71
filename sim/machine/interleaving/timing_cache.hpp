// A cache that is there for latencies: exact LRU by line, data by sector, and when it comes.
//
// Contract: lines stand in their set in the order of last use. In sets of at most 64 ways they are found by marks of 16
// bits that are compared all at once, in larger ones by a hash table: O(1). Either way a line that is not there is
// missed without a look at the lines. A geometry without bytes has no lines and must not be asked. Memory: 32 bytes a
// line, and 2 of its mark, or 16 to 32 of the table.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/machine/interleaving/bring_near.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/tag_match.hpp"

namespace rayreplay::machine {

class TimingCache {
 public:
  struct Line {
    std::uint64_t number = kEmpty;
    std::uint64_t returns = 0;  ///< when the sectors on their way do
    std::uint8_t sectors = 0;   ///< present, or on their way
    std::uint8_t coming = 0;    ///< of them on their way, unless `returns` has passed

    /// Those of `wanted` that are on their way in this cycle.
    [[nodiscard]] bool waits(std::uint8_t wanted, std::uint64_t cycle) const {
      return returns > cycle && (coming & wanted) != 0;
    }
    /// `asked` sectors return at `when`, and so do those that are on their way already, unless they come later still.
    void ask(std::uint8_t asked, std::uint64_t when, std::uint64_t cycle) {
      if (returns <= cycle) {
        coming = 0;
      }
      coming = static_cast<std::uint8_t>(coming | asked);
      sectors = static_cast<std::uint8_t>(sectors | asked);
      returns = returns > when ? returns : when;
    }
  };

  explicit TimingCache(const memory::CacheGeometry& geometry);

  /// The line, now its set's last used; null if it is not there.
  [[nodiscard]] Line* find(std::uint64_t number) {
    const std::uint64_t set = set_of(number);
    const std::uint32_t index = look_up(number, set);
    if (index == kNone) {
      return nullptr;
    }
    use(index, set);
    return &lines_[index];
  }
  /// Brings near what `find` and `insert` will look at first …
  void prefetch(std::uint64_t number) const {
    const std::uint64_t set = set_of(number);
    if (stride_ != 0) {
      bring_near(&marks_[set * stride_]);
    } else {
      bring_near(&table_[place(tag_of(number))]);
    }
    bring_near(&sets_[set]);
    bring_near(&links_[set * ways_]);
  }
  /// … and, when that is there, what they look at next: the line, or the one that it would replace.
  void prefetch_line(std::uint64_t number) const {
    const std::uint64_t set = set_of(number);
    if (stride_ != 0) {
      const std::uint64_t found = marked(mark_of(number), set);
      bring_near(
          &lines_[found != 0 ? set * ways_ + static_cast<std::uint64_t>(std::countr_zero(found)) : sets_[set].oldest]);
    } else {
      const std::uint32_t tag = tag_of(number);
      const Slot slot = table_[place(tag)];
      bring_near(&lines_[slot.line != kNone && slot.tag == tag ? slot.line : sets_[set].oldest]);
    }
  }
  /// A line that is not there takes the place of its set's longest unused.
  Line& insert(std::uint64_t number);
  /// Lines have numbers, which stay.
  [[nodiscard]] std::uint32_t index_of(const Line& line) const {
    return static_cast<std::uint32_t>(&line - lines_.data());
  }
  [[nodiscard]] Line& line(std::uint32_t index) {
    return lines_[index];
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  static constexpr std::uint32_t kMostMarked = 64;  // ways

  struct Ends {
    std::uint32_t newest = 0, oldest = 0;
  };
  struct Link {
    std::uint32_t newer = 0, older = 0;
  };

  __extension__ using Wide = unsigned __int128;
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t line = kNone;
  };

  /// Hash of the line's group of four, and which of them it is: sectors of one L1 line are often neighbours in the L2.
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t number) {
    return (static_cast<std::uint32_t>(((number >> 2U) * 0x9E37'79B9'7F4A'7C15U) >> 32U) & ~3U) |
           static_cast<std::uint32_t>(number & 3U);
  }
  /// Where a line of this tag belongs: groups lie together.
  [[nodiscard]] std::uint64_t place(std::uint32_t tag) const {
    return ((tag >> shift_) & ~std::uint64_t{3}) | (tag & 3U);
  }
  /// number mod sets, without a division: the quotient is that by ⌊2^64 / sets⌋, or one more.
  [[nodiscard]] std::uint64_t set_of(std::uint64_t number) const {
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(number) * reciprocal_ >> 64U);
    const std::uint64_t rest = number - quotient * sets_.size();
    return rest >= sets_.size() ? rest - sets_.size() : rest;
  }
  [[nodiscard]] static std::uint16_t mark_of(std::uint64_t number) {
    return static_cast<std::uint16_t>((number * 0x9E37'79B9'7F4A'7C15U) >> 48U);
  }
  /// Ways of the set with this mark.
  [[nodiscard]] std::uint64_t marked(std::uint16_t mark, std::uint64_t set) const {
    const std::uint16_t* const marks = &marks_[set * stride_];
    std::uint64_t found = 0;
    for (std::uint32_t way = 0; way < stride_; way += 16) {
      found |= memory::match_16_marks(marks + way, mark) << way;
    }
    return found & mask_;
  }
  [[nodiscard]] std::uint32_t look_up(std::uint64_t number, std::uint64_t set) const {
    if (stride_ != 0) {
      for (std::uint64_t found = marked(mark_of(number), set); found != 0; found &= found - 1) {
        const auto index =
            static_cast<std::uint32_t>(set * ways_) + static_cast<std::uint32_t>(std::countr_zero(found));
        if (lines_[index].number == number) {
          return index;
        }
      }
      return kNone;
    }
    const std::uint32_t tag = tag_of(number);
    for (std::uint64_t at = place(tag);; at = (at + 1) & mask_) {
      const Slot slot = table_[at];
      if (slot.line == kNone || (slot.tag == tag && lines_[slot.line].number == number)) {
        return slot.line;
      }
    }
  }
  void use(std::uint32_t index, std::uint64_t set) {
    Ends& ends = sets_[set];
    if (ends.newest == index) {
      return;
    }
    Link& link = links_[index];
    links_[link.newer].older = link.older;
    if (ends.oldest == index) {
      ends.oldest = link.newer;
    } else {
      links_[link.older].newer = link.newer;
    }
    links_[ends.newest].newer = index;
    link.older = ends.newest;
    ends.newest = index;
  }
  void forget(std::uint64_t number, std::uint32_t line);

  std::uint64_t ways_ = 0;
  std::uint32_t stride_ = 0;  ///< marks of a set; 0: lines are in the table
  std::vector<Line> lines_;   ///< set by set
  std::vector<Link> links_;   ///< of lines
  std::vector<std::uint16_t> marks_;
  std::vector<Ends> sets_;
  std::uint64_t reciprocal_ = 0;  ///< floor(2^64 / sets); of one set 2^64 - 1
  std::vector<Slot> table_;       ///< at most half full, linear probing
  std::uint64_t mask_ = 0;        ///< of the table's places; with marks: of the ways that there are
  unsigned shift_ = 0;
};

}  // namespace rayreplay::machine
