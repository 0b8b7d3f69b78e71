#include "sim/memory/caches/lru_grid_lines.hpp"

#include <algorithm>
#include <bit>
#include <utility>

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
    ++now_;
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
    const Oldest oldest = oldest_of(access.sectors, entry.touched, &touched_since_[entry.number * sectors_]);
    const Oldest stored = back ? oldest_of(access.sectors, entry.stored, &stored_since_[entry.number * sectors_])
                               : Oldest{};
    packed[size++] = {.line = line,
                      .number = entry.number,
                      .sectors = access.sectors,
                      .stored = back ? access.sectors : std::uint8_t{0},
                      .oldest = oldest.sector,
                      .oldest_store = stored.sector,
                      .filled = oldest.all && !access.store ? count : std::uint8_t{0},
                      .written = stored.all && back ? count : std::uint8_t{0},
                      .fills_each = !oldest.all && !access.store,
                      .writes_each = !stored.all};
  }
  return size;
}

GridLines::Oldest GridLines::oldest_of(std::uint8_t sectors, std::uint8_t& last, std::uint32_t* since) const {
  const std::uint8_t before = std::exchange(last, sectors);
  for (unsigned gone = before & ~unsigned{sectors}; gone != 0; gone &= gone - 1) {
    since[std::countr_zero(gone)] = now_;
  }
  const unsigned older = sectors & ~unsigned{before};
  Oldest result{.sector = static_cast<std::uint8_t>(std::countr_zero(unsigned{sectors})), .all = true};
  if (older == 0) {
    return result;
  }
  result.all = older == sectors;
  std::uint32_t least = ~std::uint32_t{0};
  for (unsigned left = older; left != 0; left &= left - 1) {
    const auto sector = static_cast<std::uint8_t>(std::countr_zero(left));
    result.all = result.all && (left == older || since[sector] == least);
    if (since[sector] < least) {
      least = since[sector];
      result.sector = sector;
    }
  }
  return result;
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
    if (2 * lines_.size() > entries_.size()) {
      grow();
      at = place(line);
    }
    entries_[at].line = line;
    entries_[at].number = limit();
    lines_.push_back(line);
    touched_since_.resize(lines_.size() * sectors_);
    if (dirty_) {
      stored_since_.resize(lines_.size() * sectors_);
    }
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
