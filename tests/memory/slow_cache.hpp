// The slow, obvious twin of the exact caches: a list of lines for each set (sim/memory/caches/set_associative.hpp).
#pragma once

#include <bit>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory::test {

class SlowCache {
 public:
  SlowCache(const CacheGeometry& geometry, const CachePolicy& policy) : geometry_(geometry), policy_(policy) {}

  /// Hit, sector miss or miss, as a fast cache says it.
  std::uint32_t access(const LineAccess& access, std::uint32_t cause, std::vector<DownAccess>& down) {
    ++counts_.accesses;
    evicted_.reset();
    std::list<Line>& set = sets_[access.line % geometry_.sets()];
    for (auto line = set.begin(); line != set.end(); ++line) {
      if (line->number == access.line) {
        return found(set, line, access, cause, down);
      }
    }
    if (access.store && !policy_.allocate) {
      write(access.line, access.sectors, cause, down);
      return 0;
    }
    Line fresh{access.line, access.sectors, 0, static_cast<std::uint32_t>(set.size())};
    if (set.size() == geometry_.associativity()) {
      const auto victim = choose(set);
      write(victim->number, victim->dirty, cause, down);
      ++counts_.evictions;
      evicted_ = victim->number;
      fresh.way = victim->way;
      set.erase(victim);
    }
    if (!access.store) {
      fill(access.line, access.sectors, cause, down);
    } else if (policy_.write_back) {
      fresh.dirty = access.sectors;
    } else {
      write(access.line, access.sectors, cause, down);
    }
    set.push_front(fresh);
    return 0;
  }
  [[nodiscard]] CacheCounts counts() const {
    return counts_;
  }
  /// The line that the last access evicted.
  [[nodiscard]] std::optional<std::uint64_t> evicted() const {
    return evicted_;
  }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
    std::uint32_t way = 0;
  };

  std::list<Line>::iterator choose(std::list<Line>& set) const {
    if (policy_.replacement != Replacement::Random) {
      return std::prev(set.end());
    }
    const std::uint64_t way = (split_mix(policy_.seed, counts_.evictions) >> 32U) * geometry_.associativity() >> 32U;
    auto line = set.begin();
    while (line->way != way) {
      ++line;
    }
    return line;
  }

  std::uint32_t found(std::list<Line>& set, std::list<Line>::iterator line, const LineAccess& access,
                      std::uint32_t cause, std::vector<DownAccess>& down) {
    if (policy_.replacement == Replacement::Lru) {
      set.splice(set.begin(), set, line);
    }
    const auto missing = static_cast<std::uint8_t>(access.sectors & ~line->valid);
    if (missing == 0) {
      counts_.hits += kOne;
    } else {
      ++counts_.sector_misses;
    }
    for (std::uint32_t bit = 0; bit < 8; ++bit) {
      if ((access.sectors >> bit & 1U) != 0 && access.store && policy_.allocate) {
        line->valid = static_cast<std::uint8_t>(line->valid | 1U << bit);
      }
    }
    if (!access.store) {
      if (missing != 0) {
        fill(access.line, missing, cause, down);
      }
      line->valid |= missing;
    } else if (policy_.write_back) {
      const auto there = static_cast<std::uint8_t>(access.sectors & line->valid);
      line->dirty |= there;
      write(access.line, static_cast<std::uint8_t>(access.sectors ^ there), cause, down);
    } else {
      write(access.line, access.sectors, cause, down);
    }
    return missing == 0 ? kOne : kSectorMiss;
  }

  void fill(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause, std::vector<DownAccess>& down) {
    counts_.sectors_filled += static_cast<std::uint64_t>(std::popcount(sectors));
    down.push_back({line, cause, sectors, false});
  }
  void write(std::uint64_t line, std::uint8_t sectors, std::uint32_t cause, std::vector<DownAccess>& down) {
    if (sectors != 0) {
      counts_.sectors_written += static_cast<std::uint64_t>(std::popcount(sectors));
      down.push_back({line, cause, sectors, true});
    }
  }

  CacheGeometry geometry_;
  CachePolicy policy_;
  std::map<std::uint64_t, std::list<Line>> sets_;  ///< most recent (FIFO, random: newest) first
  CacheCounts counts_;
  std::optional<std::uint64_t> evicted_;
};

}  // namespace rayreplay::memory::test
