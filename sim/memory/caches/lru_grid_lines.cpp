#include "sim/memory/caches/lru_grid_lines.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {

std::size_t GridLines::take(std::span<const LineAccess> accesses, GridAccess* packed) {
  return wide_ ? take_as<true>(accesses, packed) : take_as<false>(accesses, packed);
}

template <bool kWide>
std::size_t GridLines::take_as(std::span<const LineAccess> accesses, GridAccess* packed) {
  constexpr std::size_t kAhead = 12;
  std::size_t size = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint64_t ahead = accesses[std::min(i + kAhead, accesses.size() - 1)].line - low_;
    __builtin_prefetch(&entries_[home(static_cast<std::uint32_t>(ahead))], 1);
    const LineAccess& access = accesses[i];
    const auto line = static_cast<std::uint32_t>(access.line - low_);
    Entry& first = entries_[home(line)];
    Entry& entry = first.line == line ? first : of(line);
    if (!allocate_) {
      // One bit for loads, one for stores; a line with both is mixed.
      entry.stored |= access.store ? 2 : 1;
      mixed_ = mixed_ || entry.stored == 3;
      if (access.store) {
        continue;
      }
    }
    const std::uint8_t sectors = kWide ? access.sectors : access.sectors & 15U;
    const auto stored = static_cast<std::uint8_t>(access.store && dirty_ ? sectors : 0);
    SectorAge touched_age;
    SectorAge stored_age;
    if constexpr (kWide) {
      ++now_;
      touched_age = age_of(sectors, entry.touched, &touched_since_[entry.number * kWideSectors]);
      if (stored != 0) {
        stored_age = age_of(stored, entry.stored, &stored_since_[entry.number * kWideSectors]);
      }
    } else {
      touched_age = kSectorAges[entry.touched][sectors];
      stored_age = kSectorAges[entry.stored][stored];
      entry.touched = touched_age.next;
      entry.stored = stored_age.next;
    }
    const auto load = static_cast<std::uint8_t>(!access.store);
    const unsigned each = stored_age.each | (touched_age.each & load);
    packed[size++] = {.line = line,
                      .number = entry.number,
                      .touched = kWide ? sectors : static_cast<std::uint8_t>(sectors | stored << 4U),
                      .stored = stored,
                      .oldest_bits = static_cast<std::uint8_t>(8 * touched_age.oldest),
                      .oldest_store_bits = static_cast<std::uint8_t>(8 * stored_age.oldest),
                      .filled = static_cast<std::uint8_t>(touched_age.count * load),
                      .written = stored_age.count,
                      .each = static_cast<std::uint8_t>(sectors * each)};
  }
  return size;
}

SectorAge GridLines::age_of(std::uint8_t sectors, std::uint8_t& last, std::uint32_t* since) const {
  const std::uint8_t before = std::exchange(last, sectors);
  for (unsigned gone = before & ~unsigned{sectors}; gone != 0; gone &= gone - 1) {
    since[std::countr_zero(gone)] = now_;
  }
  const unsigned older = sectors & ~unsigned{before};
  SectorAge age{.oldest = static_cast<std::uint8_t>(std::countr_zero(unsigned{sectors}))};
  std::uint32_t least = ~std::uint32_t{0};
  bool each = older != 0 && older != sectors;
  for (unsigned left = older; left != 0; left &= left - 1) {
    const auto sector = static_cast<std::uint8_t>(std::countr_zero(left));
    each = each || (left != older && since[sector] != least);
    if (since[sector] < least) {
      least = since[sector];
      age.oldest = sector;
    }
  }
  age.each = static_cast<std::uint8_t>(each);
  age.count = each ? std::uint8_t{0} : static_cast<std::uint8_t>(sector_count(sectors));
  return age;
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
    if (wide_) {
      touched_since_.resize(lines_.size() * kWideSectors);
      stored_since_.resize(lines_.size() * kWideSectors);
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
