// Sets of any number of ways: one hash table of the whole cache finds lines, and a log per set finds victims.
//
// Contract: an organisation as in ranked_sets.hpp, but a "way" is the line's slot in the table, valid until the next
// `replace`. O(1) amortised an access for any number of ways. The table uses open addressing with linear probing and is
// at most two thirds full; removal moves later entries up. Lru: a set's log has its lines in order of last use. A
// reused line leaves a gap and moves to the end; the victim is the first entry that is no gap. A full log is compacted
// (4 to 8 entries a way, so that this is rare). A hit touches the line's slot and two log entries; linked lists would
// also touch neighbours. Fifo, Random: log entry i belongs to way i; Fifo's victims rotate.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/caches/ranked_sets.hpp"

namespace rayreplay::memory {

class HashedSets {
 public:
  static constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 29U;  ///< places and stamps are 32 bits

  HashedSets(std::uint64_t sets, std::uint64_t ways)
      : index_(sets),
        ways_(static_cast<std::uint32_t>(ways)),
        log_bits_(static_cast<std::uint32_t>(std::countr_zero(std::bit_ceil(ways))) + 2),
        shift_(static_cast<std::uint32_t>(std::countl_zero(slots_for(sets * ways))) + 1),
        table_(slots_for(sets * ways)),
        log_(sets << log_bits_, kNone),
        set_(sets) {}

  [[nodiscard]] const SetIndex& index() const {
    return index_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  static constexpr std::uint32_t kAhead = 12;
  static std::uint64_t slots_for(std::uint64_t lines) {
    return std::bit_ceil(lines + lines / 2 + 1);
  }
  struct Entry {
    std::uint64_t line = 0;
    std::uint32_t stamp = 0;  ///< its entry in the set's log, modulo the log's size
    std::uint8_t valid = 0;   ///< 0: empty slot
    std::uint8_t dirty = 0;
  };
  struct Set {
    std::uint32_t used = 0;            ///< lines
    std::uint32_t first = 0, end = 0;  ///< of the log; Fifo: `first` is the next victim's way
  };

 public:
  /// A view for the inner loop; valid until the object moves.
  class View {
   public:
    explicit View(HashedSets& sets)
        : index_(sets.index_),
          ways_(sets.ways_),
          log_bits_(sets.log_bits_),
          log_mask_((1U << sets.log_bits_) - 1),
          shift_(sets.shift_),
          mask_(sets.table_.size() - 1),
          table_(sets.table_.data()),
          log_(sets.log_.data()),
          set_(sets.set_.data()) {}

    [[nodiscard]] CachePlace place(std::uint64_t line) const {
      // The table is searched by line, so no tag is needed.
      return {line, index_.place(line).set};
    }
    void prefetch(const CachePlace& place) const {
      __builtin_prefetch(&table_[home(place.tag)], 1);
    }
    [[nodiscard]] std::uint32_t find(const CachePlace& place) const {
      for (std::uint64_t i = home(place.tag);; i = after(i)) {
        if (table_[i].valid == 0) {
          return kNoWay;
        }
        if (table_[i].line == place.tag) {
          return static_cast<std::uint32_t>(i);
        }
      }
    }
    void promote(const CachePlace& place, std::uint32_t slot) {
      Set& set = set_[place.set];
      Entry& self = table_[slot];
      if (self.stamp == set.end - 1) {
        return;
      }
      std::uint32_t* log = log_ + (place.set << log_bits_);
      log[self.stamp & log_mask_] = kNone;
      append(set, log, self, slot);
    }
    template <Replacement kReplacement, class Choose>
    std::uint32_t replace(const CachePlace& place, const Choose& choose, Evicted& evicted) {
      Set& set = set_[place.set];
      std::uint32_t* log = log_ + (place.set << log_bits_);
      std::uint32_t way = set.used;
      if (set.used == ways_) {
        if constexpr (kReplacement == Replacement::Lru) {
          way = set.first;
          while (log[way & log_mask_] == kNone) {
            ++way;
          }
          set.first = way + 1;
          __builtin_prefetch(&table_[log[(way + kAhead) & log_mask_] & mask_], 1);
        } else if constexpr (kReplacement == Replacement::Fifo) {
          way = set.first;
          set.first = way + 1 == ways_ ? 0 : way + 1;
          __builtin_prefetch(&table_[log[(way + kAhead) & log_mask_] & mask_], 1);
        } else {
          way = choose();
        }
        const std::uint32_t victim = log[way & log_mask_];
        log[way & log_mask_] = kNone;
        const Entry& gone = table_[victim];
        evicted = {gone.line, gone.valid, gone.dirty};
        close(victim);
      } else {
        ++set.used;
      }
      std::uint64_t i = home(place.tag);
      while (table_[i].valid != 0) {
        i = after(i);
      }
      const auto slot = static_cast<std::uint32_t>(i);
      Entry& self = table_[slot];
      self.line = place.tag;
      self.valid = 0xFF;  // until the caller sets it
      if constexpr (kReplacement == Replacement::Lru) {
        append(set, log, self, slot);
      } else {
        self.stamp = way;
        log[way] = slot;
      }
      return slot;
    }
    [[nodiscard]] std::uint8_t& valid(const CachePlace& /*place*/, std::uint32_t slot) {
      return table_[slot].valid;
    }
    [[nodiscard]] std::uint8_t& dirty(const CachePlace& /*place*/, std::uint32_t slot) {
      return table_[slot].dirty;
    }

   private:
    [[nodiscard]] std::uint64_t home(std::uint64_t line) const {
      return (line * kSplitMixGamma) >> shift_;
    }
    [[nodiscard]] std::uint64_t after(std::uint64_t i) const {
      return (i + 1) & mask_;
    }
    [[nodiscard]] std::uint32_t& place_in_log(const Entry& entry) const {
      return log_[(index_.place(entry.line).set << log_bits_) + (entry.stamp & log_mask_)];
    }
    void append(Set& set, std::uint32_t* log, Entry& self, std::uint32_t slot) {
      if (set.end - set.first > log_mask_) {
        pack(set, log);
      }
      self.stamp = set.end++;
      log[self.stamp & log_mask_] = slot;
    }
    /// Removes the gaps of a full log.
    void pack(Set& set, std::uint32_t* log) {
      std::uint32_t to = set.first;
      for (std::uint32_t from = set.first; from != set.end; ++from) {
        const std::uint32_t slot = log[from & log_mask_];
        if (slot != kNone) {
          log[from & log_mask_] = kNone;
          log[to & log_mask_] = slot;
          table_[slot].stamp = to++;
        }
      }
      set.end = to;
    }
    /// Removes the line from the table.
    void close(std::uint64_t hole) {
      for (std::uint64_t i = after(hole); table_[i].valid != 0; i = after(i)) {
        // An entry may move into the hole unless its home slot lies after the hole.
        const std::uint64_t from_home = (i - home(table_[i].line)) & mask_;
        const std::uint64_t from_hole = (i - hole) & mask_;
        if (from_home >= from_hole) {
          table_[hole] = table_[i];
          place_in_log(table_[hole]) = static_cast<std::uint32_t>(hole);
          hole = i;
        }
      }
      table_[hole].valid = 0;
    }

    SetIndex index_;
    std::uint32_t ways_, log_bits_, log_mask_, shift_;
    std::uint64_t mask_;
    Entry* table_;
    std::uint32_t* log_;
    Set* set_;
  };
  [[nodiscard]] View view() {
    return View(*this);
  }

 private:
  SetIndex index_;
  std::uint32_t ways_;
  std::uint32_t log_bits_;  ///< log2 of a log's entries
  std::uint32_t shift_;
  std::vector<Entry> table_;
  std::vector<std::uint32_t> log_;  ///< places in the table; kNone: a gap
  std::vector<Set> set_;
};

}  // namespace rayreplay::memory
