// A cache that decides latencies: exact LRU by line, data by sector, with return times and dirty sectors.
//
// Contract: lines of a set are in the order of last use. Sets of at most 64 ways compare 16-bit marks, all at once;
// larger sets use a hash table: O(1). Both detect a missing line without access to the lines. A geometry without bytes
// has no lines and must not be used. Memory: 32 bytes a line, and 2 for its mark, or 16 to 32 of the table.
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
    std::uint64_t returns = 0;  ///< return of the pending sectors
    std::uint8_t sectors = 0;   ///< present or pending
    std::uint8_t coming = 0;    ///< pending, unless `returns` has passed
    std::uint8_t dirty = 0;     ///< stored, and not written back

    /// The sectors of `wanted` that are pending in this cycle.
    [[nodiscard]] bool waits(std::uint8_t wanted, std::uint64_t cycle) const {
      return returns > cycle && (coming & wanted) != 0;
    }
    /// `asked` sectors return at `when`, and so do already pending ones, unless they return later.
    void ask(std::uint8_t asked, std::uint64_t when, std::uint64_t cycle) {
      if (returns <= cycle) {
        coming = 0;
      }
      coming = static_cast<std::uint8_t>(coming | asked);
      sectors = static_cast<std::uint8_t>(sectors | asked);
      returns = returns > when ? returns : when;
    }
    /// Stored sectors are there at once.
    void store(std::uint8_t stored) {
      sectors = static_cast<std::uint8_t>(sectors | stored);
      coming = static_cast<std::uint8_t>(coming & ~stored);
      dirty = static_cast<std::uint8_t>(dirty | stored);
    }
  };
  struct Inserted {
    Line* line;
    std::uint8_t written_back;  ///< dirty sectors of the replaced line
  };

  explicit TimingCache(const memory::CacheGeometry& geometry);

  /// The line, now the most recently used of its set; null if missing.
  [[nodiscard]] Line* find(std::uint64_t number) {
    const std::uint64_t set = set_of(number);
    const std::uint32_t index = look_up(number, set);
    if (index == kNone) {
      return nullptr;
    }
    use(index, set);
    return &lines_[index];
  }
  /// Prefetches the first data of `find` and `insert` …
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
  /// … and, once that has arrived, the next: the line, or its victim.
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
  /// A missing line replaces the least recently used line of its set.
  Inserted insert(std::uint64_t number);
  /// Lines have fixed numbers.
  [[nodiscard]] std::uint32_t index_of(const Line& line) const {
    return static_cast<std::uint32_t>(&line - lines_.data());
  }
  [[nodiscard]] Line& line(std::uint32_t index) {
    return lines_[index];
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  static constexpr std::uint32_t kMaxMarked = 64;  // ways

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

  /// Hash of the line's group of four, plus its position there: sectors of one L1 line are often neighbours in the L2.
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t number) {
    return (static_cast<std::uint32_t>(((number >> 2U) * 0x9E37'79B9'7F4A'7C15U) >> 32U) & ~3U) |
           static_cast<std::uint32_t>(number & 3U);
  }
  /// The home slot of this tag: groups are contiguous.
  [[nodiscard]] std::uint64_t place(std::uint32_t tag) const {
    return ((tag >> shift_) & ~std::uint64_t{3}) | (tag & 3U);
  }
  /// number mod sets without a division: the quotient is that of ⌊2^64 / sets⌋, or one more.
  [[nodiscard]] std::uint64_t set_of(std::uint64_t number) const {
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(number) * reciprocal_ >> 64U);
    const std::uint64_t rest = number - quotient * set_count_;
    return rest >= set_count_ ? rest - set_count_ : rest;
  }
  [[nodiscard]] static std::uint16_t mark_of(std::uint64_t number) {
    return static_cast<std::uint16_t>((number * 0x9E37'79B9'7F4A'7C15U) >> 48U);
  }
  /// Ways of the set with this mark.
  [[nodiscard]] std::uint64_t marked(std::uint16_t mark, std::uint64_t set) const {
    const std::uint16_t* const marks = &marks_[set * stride_];
    std::uint64_t found = memory::match_16_marks(marks, mark);
    if (stride_ > 16) {
      found |= memory::match_16_marks(marks + 16, mark) << 16U;
      if (stride_ > 32) {
        found |= memory::match_16_marks(marks + 32, mark) << 32U;
        if (stride_ > 48) {
          found |= memory::match_16_marks(marks + 48, mark) << 48U;
        }
      }
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
  std::uint32_t stride_ = 0;  ///< marks a set; 0: the table is used
  std::vector<Line> lines_;   ///< set by set
  std::vector<Link> links_;   ///< of lines
  std::vector<std::uint16_t> marks_;
  std::vector<Ends> sets_;
  std::uint64_t set_count_ = 0;
  std::uint64_t reciprocal_ = 0;  ///< floor(2^64 / sets); of one set 2^64 - 1
  std::vector<Slot> table_;       ///< at most half full, linear probing
  std::uint64_t mask_ = 0;        ///< size of the table minus one; with marks: mask of the existing ways
  unsigned shift_ = 0;
};

}  // namespace rayreplay::machine
