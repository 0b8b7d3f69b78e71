#include "sim/machine/interleaving/timing_cache.hpp"

#include <algorithm>
#include <bit>

namespace rayreplay::machine {

TimingCache::TimingCache(const memory::CacheGeometry& geometry) {
  if (geometry.bytes == 0) {
    return;
  }
  const auto ways = static_cast<std::uint32_t>(geometry.associativity());
  lines_.resize(geometry.lines());
  sets_.resize(geometry.sets());
  if (std::has_single_bit(sets_.size())) {
    sets_mask_ = sets_.size() - 1;
  }
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    const std::uint32_t first = set * ways;
    for (std::uint32_t way = 0; way < ways; ++way) {
      lines_[first + way].newer = first + way - 1;
      lines_[first + way].older = first + way + 1;
    }
    sets_[set] = {first, first + ways - 1};
  }
  const std::uint64_t places = std::bit_ceil(2 * std::max<std::uint64_t>(lines_.size(), 1));
  table_.assign(places, kNone);
  mask_ = places - 1;
  shift_ = 64U - static_cast<unsigned>(std::bit_width(mask_));
}

TimingCache::Line& TimingCache::insert(std::uint64_t number) {
  const std::uint64_t set = set_of(number);
  const std::uint32_t index = sets_[set].oldest;
  Line& line = lines_[index];
  if (line.number != kEmpty) {
    forget(line.number);
  }
  use(index, set);
  line.number = number;
  line.returns = 0;
  line.sectors = 0;
  line.coming = 0;
  std::uint64_t at = place(number);
  while (table_[at] != kNone) {
    at = (at + 1) & mask_;
  }
  table_[at] = index;
  return line;
}

/// Closes the gap in the table: what was pushed on by the line forgotten moves back.
void TimingCache::forget(std::uint64_t number) {
  std::uint64_t gap = place(number);
  while (lines_[table_[gap]].number != number) {
    gap = (gap + 1) & mask_;
  }
  for (std::uint64_t at = (gap + 1) & mask_; table_[at] != kNone; at = (at + 1) & mask_) {
    const std::uint64_t home = place(lines_[table_[at]].number);
    if (((at - home) & mask_) >= ((at - gap) & mask_)) {
      table_[gap] = table_[at];
      gap = at;
    }
  }
  table_[gap] = kNone;
}

}  // namespace rayreplay::machine
