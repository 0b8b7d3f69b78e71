// A cache of latencies once more, with lists and maps: slow, and easy to believe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace rayreplay::test {

/// Byte ranges are cut into sectors anew for each cache; a sector is named by its address.
class SlowCache {
 public:
  SlowCache(std::uint64_t bytes, std::uint32_t line, std::uint32_t ways, std::uint32_t sector)
      : line_(line), sector_(sector) {
    const std::uint64_t lines = bytes / line;
    ways_ = ways == 0 ? lines : ways;
    sets_.resize(bytes == 0 ? 0 : lines / ways_);
  }

  [[nodiscard]] bool exists() const {
    return !sets_.empty();
  }
  struct Line {
    std::uint64_t number = 0;
    std::map<std::uint64_t, std::uint64_t> returns{};  ///< of sectors, by address
    std::set<std::uint64_t> dirty{};                   ///< stored sectors, by address
  };
  using Set = std::list<Line>;  // last used first

  /// Sectors of the bytes, by line.
  [[nodiscard]] std::map<std::uint64_t, std::set<std::uint64_t>> cut(const std::set<std::uint64_t>& words) const {
    std::map<std::uint64_t, std::set<std::uint64_t>> result;
    for (const std::uint64_t word : words) {
      result[word / line_].insert(word / sector_ * sector_);
    }
    return result;
  }
  [[nodiscard]] std::uint32_t sector() const {
    return sector_;
  }
  [[nodiscard]] const Line* look(std::uint64_t number) const {
    const Set& set = sets_[number % sets_.size()];
    const auto at = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    return at == set.end() ? nullptr : &*at;
  }
  /// The line keeps its place in the order of uses.
  Line* find(std::uint64_t number) {
    for (Line& line : sets_[number % sets_.size()]) {
      if (line.number == number) {
        return &line;
      }
    }
    return nullptr;
  }
  /// The line becomes the last used one; `make`: even if it is not there.
  Line* touch(std::uint64_t number, bool make) {
    Set& set = sets_[number % sets_.size()];
    const auto at = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    if (at != set.end()) {
      set.splice(set.begin(), set, at);
    } else if (!make) {
      return nullptr;
    } else {
      if (set.size() == ways_) {
        dropped_dirty_.insert(set.back().dirty.begin(), set.back().dirty.end());
        set.pop_back();
      }
      set.push_front({number});
    }
    return &set.front();
  }

  /// The bytes of dirty sectors of lines that were dropped since the last call.
  std::uint64_t take_dropped_dirty() {
    return std::exchange(dropped_dirty_, {}).size() * sector_;
  }

  /// Asks for sectors that the line lacks; all that are on their way return together.
  static std::uint64_t ask(Line& line, const std::set<std::uint64_t>& sectors, std::uint64_t when,
                           std::uint64_t cycle) {
    for (const auto& [sector, returns] : line.returns) {
      when = std::max(when, returns > cycle ? returns : 0);
    }
    for (auto& [sector, returns] : line.returns) {
      returns = returns > cycle ? when : returns;
    }
    for (const std::uint64_t sector : sectors) {
      line.returns[sector] = when;
    }
    return when;
  }

 private:
  std::uint32_t line_, sector_;
  std::uint64_t ways_ = 0;
  std::vector<Set> sets_;
  std::multiset<std::uint64_t> dropped_dirty_;
};

}  // namespace rayreplay::test
