#include "sim/memory/reuse/engines/line_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "base/huge_pages.hpp"
#include "base/split_mix.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kAhead = 32;     ///< accesses from prefetch to use
constexpr std::size_t kChunk = 256;    ///< accesses between density checks
constexpr std::size_t kMaxSlab = 256;  ///< pages: 2 MB
constexpr std::size_t kSparse = 16;    ///< table entries a line in pages; above this a hash is better
constexpr std::align_val_t kSlabAlignment{std::size_t{2} << 20U};  ///< a huge page; the largest slab is one
constexpr unsigned kPageBits = std::bit_width(LineTable::kPageLines) - 1;

}  // namespace

std::size_t LineTable::home(std::uint64_t key) const {
  return static_cast<std::size_t>((key * kSplitMixGamma) >> directory_shift_);
}

void LineTable::FreeSlab::operator()(std::uint32_t* memory) const {
  ::operator delete(memory, kSlabAlignment);
}

std::uint32_t* LineTable::find_or_add_page(std::uint64_t key) {
  if (!directory_.empty()) {
    for (std::size_t at = home(key); directory_[at].numbers != nullptr; at = (at + 1) & (directory_.size() - 1)) {
      if (directory_[at].key == key) {
        put_in_window(key, directory_[at].numbers);
        return directory_[at].numbers;
      }
    }
  }
  const auto put_in_directory = [&](const Page& page) {
    std::size_t at = home(page.key);
    while (directory_[at].numbers != nullptr) {
      at = (at + 1) & (directory_.size() - 1);
    }
    directory_[at] = page;
  };
  if (2 * (pages_ + 1) > directory_.size()) {
    std::vector<Page> old(std::max<std::size_t>(64, 4 * directory_.size()));
    old.swap(directory_);
    directory_shift_ = static_cast<unsigned>(64 - (std::bit_width(directory_.size()) - 1));
    for (const Page& page : old) {
      if (page.numbers != nullptr) {
        put_in_directory(page);
      }
    }
  }
  if (slab_left_ == 0) {
    slab_pages_ = std::min(2 * slab_pages_, kMaxSlab);
    const std::size_t bytes = slab_pages_ * kPageLines * sizeof(std::uint32_t);
    slabs_.emplace_back(static_cast<std::uint32_t*>(::operator new(bytes, kSlabAlignment)));
    prefer_huge_pages(slabs_.back().get(), bytes);
    slab_next_ = slabs_.back().get();
    slab_left_ = slab_pages_;
  }
  std::uint32_t* const numbers = slab_next_;
  std::uninitialized_fill_n(numbers, kPageLines, 0U);
  slab_next_ += kPageLines;
  --slab_left_;
  ++pages_;
  put_in_directory({key, numbers});
  put_in_window(key, numbers);
  return numbers;
}

void LineTable::put_in_window(std::uint64_t key, std::uint32_t* numbers) {
  if (window_.empty()) {
    window_begin_ = key;
    window_.resize(1);
  }
  if (key < window_begin_) {
    const std::uint64_t more = window_begin_ - key;
    if (more > kWindow - window_.size()) {
      return;
    }
    // Extends below as well, for the next pages.
    const std::uint64_t room = std::min({kWindow - window_.size() - more, window_.size(), std::size_t{key}});
    window_.insert(window_.begin(), more + room, nullptr);
    window_begin_ = key - room;
  } else if (key - window_begin_ >= window_.size()) {
    if (key - window_begin_ >= kWindow) {
      return;
    }
    window_.resize(key - window_begin_ + 1);
  }
  window_[key - window_begin_] = numbers;
}

inline std::uint32_t* LineTable::locate_in_pages(std::uint64_t line) {
  const std::uint64_t key = line >> kPageBits;
  const std::uint64_t in_window = key - window_begin_;
  std::uint32_t* numbers = in_window < window_.size() ? window_[in_window] : nullptr;
  if (numbers == nullptr) [[unlikely]] {
    numbers = find_or_add_page(key);
  }
  return numbers + (line & (kPageLines - 1));
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

bool LineTable::dense_again() const {
  std::vector<std::uint64_t> keys;
  keys.reserve(entries_used_);
  for (const Entry& entry : entries_) {
    if (entry.used != 0) {
      keys.push_back(entry.line >> kPageBits);
    }
  }
  std::sort(keys.begin(), keys.end());
  const auto pages = static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
  return pages * kPageLines <= (kSparse * entries_used_ + slack_) / 2;
}

void LineTable::move_to_pages() {
  std::vector<Entry> old;
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.number != 0) {
      *locate_in_pages(entry.line) = entry.number;
      ++page_lines_;
    }
  }
  entries_used_ = 0;
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
  window_ = {};
  directory_ = {};
  slabs_.clear();
  slab_next_ = nullptr;
  slab_left_ = 0;
  pages_ = 0;
  page_lines_ = 0;
}

void LineTable::prepare(std::size_t lines) {
  if (in_pages()) {
    if (pages_ * kPageLines > kSparse * page_lines_ + slack_) {
      move_to_hash(lines);
    }
  } else if (2 * (entries_used_ + lines) > entries_.size()) {
    if (dense_again()) {
      move_to_pages();
    } else {
      grow_hash(lines);
    }
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
  return numbers * sizeof(std::uint32_t) + directory_.capacity() * sizeof(Page) +
         window_.capacity() * sizeof(std::uint32_t*) + entries_.capacity() * sizeof(Entry);
}

}  // namespace rayreplay::memory
