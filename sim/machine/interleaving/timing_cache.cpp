#include "sim/machine/interleaving/timing_cache.hpp"

#include <algorithm>
#include <bit>

#include "base/huge_pages.hpp"

namespace rayreplay::machine {

TimingCache::TimingCache(const memory::CacheGeometry& geometry) {
  if (geometry.bytes == 0) {
    return;
  }
  const auto ways = static_cast<std::uint32_t>(geometry.associativity());
  reserve_huge_pages(lines_, geometry.lines());
  lines_.resize(geometry.lines());
  set_count_ = geometry.sets();
  sets_.resize(set_count_);
  // For one set 2^64 − 1: the quotient is then one too small, which set_of corrects anyway.
  reciprocal_ = set_count_ == 1 ? ~std::uint64_t{0} : (~std::uint64_t{0} - (set_count_ - 1)) / set_count_ + 1;
  ways_ = ways;
  reserve_huge_pages(links_, lines_.size());
  links_.resize(lines_.size());
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    const std::uint32_t first = set * ways;
    for (std::uint32_t way = 0; way < ways; ++way) {
      links_[first + way] = {first + way - 1, first + way + 1};
    }
    sets_[set] = {first, first + ways - 1};
  }
  if (ways <= kMaxMarked) {
    stride_ = (ways + 15) / 16 * 16;
    reserve_huge_pages(marks_, sets_.size() * stride_);
    marks_.resize(sets_.size() * stride_);
    mask_ = ~std::uint64_t{0} >> (kMaxMarked - ways);
    return;
  }
  const std::uint64_t places = std::bit_ceil(2 * std::max<std::uint64_t>(lines_.size(), 2));
  reserve_huge_pages(table_, places);
  table_.resize(places);
  mask_ = places - 1;
  shift_ = 32U - static_cast<unsigned>(std::bit_width(mask_));  // at most 2^29 places: kMaxLines of cache_geometry.hpp
}

TimingCache::Inserted TimingCache::insert(std::uint64_t number) {
  const std::uint64_t set = set_of(number);
  const std::uint32_t index = sets_[set].oldest;
  Line& line = lines_[index];
  if (stride_ == 0 && line.number != kEmpty) {
    forget(line.number, index);
  }
  use(index, set);
  const Inserted inserted{&line, line.dirty};
  line = {.number = number};
  if (stride_ != 0) {
    marks_[set * stride_ + (index - set * ways_)] = mark_of(number);
    return inserted;
  }
  const std::uint32_t tag = tag_of(number);
  std::uint64_t at = place(tag);
  while (table_[at].line != kNone) {
    at = (at + 1) & mask_;
  }
  table_[at] = {tag, index};
  return inserted;
}

/// Closes the gap in the table: moves back the entries that the removed line displaced.
void TimingCache::forget(std::uint64_t number, std::uint32_t line) {
  std::uint64_t gap = place(tag_of(number));
  while (table_[gap].line != line) {
    gap = (gap + 1) & mask_;
  }
  for (std::uint64_t at = (gap + 1) & mask_; table_[at].line != kNone; at = (at + 1) & mask_) {
    const std::uint64_t home = place(table_[at].tag);
    if (((at - home) & mask_) >= ((at - gap) & mask_)) {
      table_[gap] = table_[at];
      gap = at;
    }
  }
  table_[gap] = {};
}

}  // namespace rayreplay::machine
