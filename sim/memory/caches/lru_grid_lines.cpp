#include "sim/memory/caches/lru_grid_lines.hpp"

#include <algorithm>

#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {

std::size_t GridLines::take(std::span<const LineAccess> accesses, GridAccess* packed) {
  constexpr std::size_t kAhead = 12;
  std::size_t size = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint64_t ahead = accesses[std::min(i + kAhead, accesses.size() - 1)].line - low_;
    __builtin_prefetch(&entries_[home(static_cast<std::uint32_t>(ahead))], 1);
    const LineAccess& access = accesses[i];
    const auto line = static_cast<std::uint32_t>(access.line - low_);
    Entry& entry = of(line);
    if (!allocate_) {
      // One bit for loads, one for stores: both of them is a line that is mixed.
      entry.stored |= access.store ? 2 : 1;
      mixed_ = mixed_ || entry.stored == 3;
      if (access.store) {
        continue;
      }
    }
    const auto count = static_cast<std::uint8_t>(sector_count(access.sectors));
    const bool back = access.store && dirty_;
    bool together = (access.sectors & ~entry.touched) == 0;
    if (back) {
      together = together && (access.sectors & ~entry.stored) == 0;
      entry.stored = access.sectors;
    }
    entry.touched = access.sectors;
    packed[size++] = {.line = line,
                      .number = entry.number,
                      .sectors = access.sectors,
                      .store = static_cast<std::uint8_t>(access.store),
                      .row = together ? (access.store ? std::uint8_t{0} : count) : GridAccess::kOdd,
                      .stored_row = together && back ? count : std::uint8_t{0}};
  }
  return size;
}

std::size_t GridLines::place(std::uint32_t line) const {
  std::size_t at = home(line);
  while (entries_[at].line != kEmpty && entries_[at].line != line) {
    at = (at + 1) & (entries_.size() - 1);
  }
  return at;
}

GridLines::Entry& GridLines::of(std::uint32_t line) {
  std::size_t at = place(line);
  if (entries_[at].line == kEmpty) {
    if (2 * (std::size_t{used_} + 1) > entries_.size()) {
      grow();
      at = place(line);
    }
    entries_[at].line = line;
    entries_[at].number = ++used_;
  }
  return entries_[at];
}

void GridLines::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  --shift_;
  for (const Entry& entry : old) {
    if (entry.line != kEmpty) {
      entries_[place(entry.line)] = entry;
    }
  }
}

}  // namespace rayreplay::memory
