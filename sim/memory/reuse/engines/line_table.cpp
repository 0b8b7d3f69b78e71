#include "sim/memory/reuse/engines/line_table.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/huge_pages.hpp"
#include "base/split_mix.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kAhead = 32;         ///< accesses between asking for a number's cache line and using it
constexpr std::size_t kChunk = 256;        ///< accesses between checks
constexpr std::size_t kMaxSlab = 256;      ///< pages: 2 MB
constexpr std::size_t kSparse = 16;        ///< numbers in pages to a line: more is too sparse for pages
constexpr std::size_t kSlack = 1U << 18U;  ///< numbers in pages that never matter
constexpr unsigned kPageBits = std::bit_width(LineTable::kPageLines) - 1;

}  // namespace

std::size_t LineTable::home(std::uint64_t key) const {
  return static_cast<std::size_t>((key * kSplitMixGamma) >> directory_shift_);
}

std::uint32_t* LineTable::add_page(std::uint64_t key) {
  if (2 * (pages_ + 1) > directory_.size()) {
    std::vector<Page> old(std::max<std::size_t>(64, 4 * directory_.size()));
    old.swap(directory_);
    directory_shift_ = static_cast<unsigned>(64 - (std::bit_width(directory_.size()) - 1));
    for (const Page& page : old) {
      if (page.numbers != nullptr) {
        std::size_t at = home(page.key);
        while (directory_[at].numbers != nullptr) {
          at = (at + 1) & (directory_.size() - 1);
        }
        directory_[at] = page;
      }
    }
  }
  if (slab_left_ == 0) {
    slab_pages_ = std::min(2 * slab_pages_, kMaxSlab);
    const std::size_t numbers = slab_pages_ * kPageLines;
    slabs_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(numbers));
    prefer_huge_pages(slabs_.back().get(), numbers * sizeof(std::uint32_t));
    slab_next_ = slabs_.back().get();
    slab_left_ = slab_pages_;
  }
  std::uint32_t* const numbers = slab_next_;
  std::fill_n(numbers, kPageLines, 0U);
  slab_next_ += kPageLines;
  --slab_left_;
  std::size_t at = home(key);
  while (directory_[at].numbers != nullptr) {
    at = (at + 1) & (directory_.size() - 1);
  }
  directory_[at] = {key, numbers};
  ++pages_;
  return numbers;
}

inline std::uint32_t* LineTable::locate_in_pages(std::uint64_t line) {
  const std::uint64_t key = line >> kPageBits;
  const std::size_t offset = line & (kPageLines - 1);
  if (!directory_.empty()) {
    std::size_t at = home(key);
    while (directory_[at].numbers != nullptr) {
      if (directory_[at].key == key) {
        return directory_[at].numbers + offset;
      }
      at = (at + 1) & (directory_.size() - 1);
    }
  }
  return add_page(key) + offset;
}

inline std::uint32_t* LineTable::locate_in_hash(std::uint64_t line) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = split_mix_finish(line) & mask;
  while (entries_[at].used != 0) {
    if (entries_[at].line == line) {
      return &entries_[at].number;
    }
    at = (at + 1) & mask;
  }
  entries_[at].line = line;
  entries_[at].used = 1;
  ++entries_used_;
  return &entries_[at].number;
}

void LineTable::grow_hash(std::size_t lines) {
  if (2 * (entries_used_ + lines) <= entries_.size()) {
    return;
  }
  std::vector<Entry> old(std::bit_ceil(3 * (entries_used_ + lines)));
  old.swap(entries_);
  const std::size_t mask = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.used != 0) {
      std::size_t at = split_mix_finish(entry.line) & mask;
      while (entries_[at].used != 0) {
        at = (at + 1) & mask;
      }
      entries_[at] = entry;
    }
  }
}

void LineTable::move_to_hash(std::size_t lines) {
  grow_hash(page_lines_ + lines);
  for (const Page& page : directory_) {
    if (page.numbers != nullptr) {
      for (std::size_t i = 0; i < kPageLines; ++i) {
        if (page.numbers[i] != 0) {
          *locate_in_hash((page.key << kPageBits) + i) = page.numbers[i];
        }
      }
    }
  }
  directory_ = {};
  slabs_.clear();
  slab_next_ = nullptr;
  slab_left_ = 0;
  pages_ = 0;
}

void LineTable::prepare(std::size_t lines) {
  if (!in_pages()) {
    grow_hash(lines);
  } else if (pages_ * kPageLines > kSparse * page_lines_ + kSlack) {
    move_to_hash(lines);
  }
}

template <class NumberOf>
void LineTable::exchange_with(std::span<const std::uint64_t> lines, const NumberOf& number_of, std::uint32_t* before) {
  std::array<std::uint32_t*, kChunk> places;
  for (std::size_t start = 0; start < lines.size(); start += kChunk) {
    const std::size_t n = std::min(lines.size() - start, kChunk);
    const std::uint64_t* const line = lines.data() + start;
    std::uint32_t* const to = before + start;
    prepare(n);
    if (in_pages()) {
      std::size_t fresh = 0;
      const auto look = [&](std::size_t i) {
        places[i] = locate_in_pages(line[i]);
        __builtin_prefetch(places[i], 1);
      };
      const auto swap = [&](std::size_t i) {
        to[i] = *places[i];
        *places[i] = number_of(start + i);
        fresh += to[i] == 0 ? 1 : 0;
      };
      const std::size_t lead = std::min(n, kAhead);
      for (std::size_t i = 0; i < lead; ++i) {
        look(i);
      }
      for (std::size_t i = lead; i < n; ++i) {
        look(i);
        swap(i - lead);
      }
      for (std::size_t i = n - lead; i < n; ++i) {
        swap(i);
      }
      page_lines_ += fresh;
    } else {
      const std::size_t mask = entries_.size() - 1;
      for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) {
          __builtin_prefetch(&entries_[split_mix_finish(line[i + kAhead]) & mask], 1);
        }
        std::uint32_t* const number = locate_in_hash(line[i]);
        to[i] = *number;
        *number = number_of(start + i);
      }
    }
  }
}

void LineTable::exchange(std::span<const std::uint64_t> lines, std::uint32_t first, std::uint32_t* before) {
  exchange_with(
      lines, [first](std::size_t i) { return first + static_cast<std::uint32_t>(i); }, before);
}

void LineTable::exchange(std::span<const std::uint64_t> lines, const std::uint32_t* numbers, std::uint32_t* before) {
  exchange_with(
      lines, [numbers](std::size_t i) { return numbers[i]; }, before);
}

std::uint32_t& LineTable::at(std::uint64_t line) {
  prepare(1);
  if (!in_pages()) {
    return *locate_in_hash(line);
  }
  std::uint32_t* const number = locate_in_pages(line);
  page_lines_ += *number == 0 ? 1 : 0;
  return *number;
}

std::uint64_t LineTable::memory_bytes() const {
  std::uint64_t numbers = 0;
  std::size_t slab = 2;
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    slab = std::min(2 * slab, kMaxSlab);
    numbers += slab * kPageLines;
  }
  return numbers * sizeof(std::uint32_t) + directory_.capacity() * sizeof(Page) + entries_.capacity() * sizeof(Entry);
}

}  // namespace rayreplay::memory
