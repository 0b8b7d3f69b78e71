// Stacks of up to 254 lines a set.
//
// A set is one record: what is on top, the order of its slots by last use, eight bits of each slot's line to find it
// by, and by slot the line and the depths of its sectors. A line keeps its slot while it is on the stack.
#include "sim/memory/caches/lru_grid_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>

#include "sim/memory/caches/byte_order.hpp"
#include "sim/memory/caches/sector_depths.hpp"
#include "sim/memory/caches/set_number.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kBatch = 64;  ///< accesses whose sets are fetched together
constexpr std::uint8_t kGone = static_cast<std::uint8_t>(GridDepths::kGone);
constexpr std::uint32_t kNoLine = 0xFFFF'FFFFU;
constexpr std::size_t kCacheLine = 64;

[[nodiscard]] constexpr std::size_t round_up(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

[[nodiscard]] std::uint8_t signature(std::uint32_t line) {
  return static_cast<std::uint8_t>((line * 0x9E37'79B1U) >> 24U);
}

/// kBytes: room for slots, 16 to 256. Word: of the depths of a line's sectors.
template <std::size_t kBytes, class Word, bool kSectors, bool kDirty>
class StackedPass final : public GridPass {
 public:
  /// `records`: sets that a line can be of.
  StackedPass(std::uint32_t sets, std::uint32_t records, std::uint32_t ways)
      : number_(sets),
        sets_(records),
        ways_(ways),
        depths_at_(kLines + round_up(ways * sizeof(std::uint32_t), sizeof(Word))),
        dirty_at_(depths_at_ + (kSectors ? ways * sizeof(Word) : 0)),
        stride_(round_up(dirty_at_ + (kDirty ? ways * sizeof(Word) : 0), kBytes <= 16 ? 16 : kCacheLine)),
        memory_(static_cast<std::uint8_t*>(std::calloc(sets_ * stride_ + kCacheLine, 1))) {
    if (memory_ == nullptr) {
      throw std::bad_alloc();
    }
    first_ = memory_.get() + (kCacheLine - reinterpret_cast<std::uintptr_t>(memory_.get()) % kCacheLine) % kCacheLine;
  }

  void run(std::span<const GridAccess> accesses, std::vector<GridAccess>* left) override {
    std::size_t kept = left == nullptr ? 0 : left->size();
    if (left != nullptr) {
      left->resize(kept + accesses.size());
    }
    GridAccess* out = left == nullptr ? nullptr : left->data();
    for (std::size_t i = 0; i < accesses.size(); i += kBatch) {
      const std::span<const GridAccess> batch = accesses.subspan(i, std::min(kBatch, accesses.size() - i));
      for (std::size_t k = 0; k < batch.size(); ++k) {
        records_[k] = first_ + number_(batch[k].line) * stride_;
        __builtin_prefetch(records_[k], 1);
        if constexpr (kBytes > 16) {
          __builtin_prefetch(records_[k] + kCacheLine, 1);
        }
      }
      for (std::size_t k = 0; k < batch.size(); ++k) {
        const bool changed = take(records_[k], batch[k]);
        if (out != nullptr) {
          out[kept] = batch[k];
          kept += static_cast<std::size_t>(changed);
        }
      }
    }
    if (left != nullptr) {
      left->resize(kept);
    }
  }

  void finish() override {
    for (std::size_t set = 0; set < sets_; ++set) {
      std::uint8_t* const record = first_ + set * stride_;
      const std::uint8_t used = top_of(record)->used;
      ++depths_.used[used];
      if constexpr (kDirty) {
        for (std::uint8_t depth = 0; depth < used; ++depth) {
          write_dirty(dirty_of(record)[order_of(record)[depth]], depth, depths_);
        }
      }
    }
  }

  [[nodiscard]] std::uint64_t resident(std::uint64_t ways) const override {
    std::uint64_t lines = 0;
    for (std::uint64_t used = 0; used < depths_.used.size(); ++used) {
      lines += depths_.used[used] * std::min(used, ways);
    }
    return lines;
  }

 private:
  struct Free {
    void operator()(void* memory) const {
      std::free(memory);
    }
  };
  struct Top {
    std::uint32_t line_not = 0;  ///< the line's bits, turned round: zeros are no line
    std::uint8_t slot = 0;
    std::uint8_t used = 0;
  };
  static constexpr std::size_t kOrder = 16;  ///< after `Top` and the byte that to_front writes
  static constexpr std::size_t kSignatures = kOrder + kBytes;
  static constexpr std::size_t kLines = kSignatures + kBytes;

  static Top* top_of(std::uint8_t* record) {
    return reinterpret_cast<Top*>(record);
  }
  static std::uint8_t* order_of(std::uint8_t* record) {
    return record + kOrder;
  }
  static std::uint32_t* lines_of(std::uint8_t* record) {
    return reinterpret_cast<std::uint32_t*>(record + kLines);
  }
  Word* sectors_of(std::uint8_t* record) const {
    return reinterpret_cast<Word*>(record + depths_at_);
  }
  Word* dirty_of(std::uint8_t* record) const {
    return reinterpret_cast<Word*>(record + dirty_at_);
  }

  /// Whether anything changed.
  bool take(std::uint8_t* record, const GridAccess& access) {
    Top& top = *top_of(record);
    if (top.line_not == ~access.line) {
      return take_top(record, access, top.slot);
    }
    const std::uint32_t slot = find(record, access.line, top.used);
    if (slot == kNoLine) {
      push(record, access);
      return true;
    }
    const std::uint8_t depth = depth_of(order_of(record), static_cast<std::uint8_t>(slot));
    to_front<kBytes>(order_of(record), depth, static_cast<std::uint8_t>(slot));
    top.line_not = ~access.line;
    top.slot = static_cast<std::uint8_t>(slot);
    ++depths_.found[depth];
    count(record, access, slot, depth);
    return true;
  }

  bool take_top(std::uint8_t* record, const GridAccess& access, std::uint32_t slot) {
    const auto touched = static_cast<Word>(kSectorBytes[access.sectors]);
    bool same = true;
    if constexpr (kSectors) {
      same = (sectors_of(record)[slot] & touched) == 0;
    }
    if constexpr (kDirty) {
      same = same && (!access.store || (dirty_of(record)[slot] & touched) == 0);
    }
    if (!same) {
      ++depths_.found[0];
      count(record, access, slot, 0);
    }
    return !same;
  }

  /// Of a line that was on the stack.
  void count(std::uint8_t* record, const GridAccess& access, std::uint32_t slot, std::uint8_t depth) {
    if constexpr (kSectors) {
      touch_sectors(sectors_of(record)[slot], access, depth, depths_);
    } else {
      ++depths_.whole[depth];
      depths_.filled[depth] += access.store ? 0 : sector_count(access.sectors);
    }
    if constexpr (kDirty) {
      Word& dirty = dirty_of(record)[slot];
      write_dirty(dirty, depth, depths_);
      if (access.store) {
        dirty &= static_cast<Word>(~kSectorBytes[access.sectors]);
      }
    }
  }

  void push(std::uint8_t* record, const GridAccess& access) {
    Top& top = *top_of(record);
    std::uint8_t* const order = order_of(record);
    std::uint8_t slot = top.used;
    if (slot == ways_) {
      slot = order[ways_ - 1];
      if constexpr (kDirty) {
        write_dirty(dirty_of(record)[slot], static_cast<std::uint8_t>(ways_), depths_);
      }
      to_front<kBytes>(order, static_cast<std::uint8_t>(ways_ - 1), slot);
    } else {
      to_front<kBytes>(order, slot, slot);
      ++top.used;
    }
    record[kSignatures + slot] = signature(access.line);
    lines_of(record)[slot] = access.line;
    top.line_not = ~access.line;
    top.slot = slot;
    const auto touched = static_cast<Word>(kSectorBytes[access.sectors]);
    if constexpr (kSectors) {
      sectors_of(record)[slot] = static_cast<Word>(~touched);
    }
    if constexpr (kDirty) {
      dirty_of(record)[slot] = access.store ? static_cast<Word>(~touched) : static_cast<Word>(~Word{0});
    }
    ++depths_.found[kGone];
    ++depths_.whole[kGone];
    depths_.filled[kGone] += access.store ? 0 : sector_count(access.sectors);
  }

  static std::uint32_t find(std::uint8_t* record, std::uint32_t line, std::uint32_t used) {
    const std::uint32_t* const lines = lines_of(record);
    constexpr std::size_t kStep = std::min<std::size_t>(kBytes, 64);
    for (std::uint32_t from = 0; from < kBytes; from += kStep) {
      std::uint64_t found = match_bytes<kStep>(record + kSignatures + from, signature(line));
      for (; found != 0; found &= found - 1) {
        const std::uint32_t slot = from + static_cast<std::uint32_t>(std::countr_zero(found));
        if (slot < used && lines[slot] == line) {
          return slot;
        }
      }
    }
    return kNoLine;
  }

  /// Of a slot in use.
  static std::uint8_t depth_of(const std::uint8_t* order, std::uint8_t slot) {
    constexpr std::size_t kStep = std::min<std::size_t>(kBytes, 64);
    // Bytes behind those in use are zeros: the first is the slot.
    for (std::uint32_t from = 0;; from += kStep) {
      const std::uint64_t found = match_bytes<kStep>(order + from, slot);
      if (found != 0) {
        return static_cast<std::uint8_t>(from + static_cast<std::uint32_t>(std::countr_zero(found)));
      }
    }
  }

  SetNumber number_;
  std::size_t sets_, ways_, depths_at_, dirty_at_, stride_;
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::uint8_t* first_ = nullptr;
  std::array<std::uint8_t*, kBatch> records_{};
};

struct Size {
  std::uint32_t sets = 1, records = 1, ways = 1;
};

template <std::size_t kBytes, class Word>
std::unique_ptr<GridPass> make(const Size& size, const GridRules& rules) {
  if (rules.sectors && rules.dirty) {
    return std::make_unique<StackedPass<kBytes, Word, true, true>>(size.sets, size.records, size.ways);
  }
  if (rules.sectors) {
    return std::make_unique<StackedPass<kBytes, Word, true, false>>(size.sets, size.records, size.ways);
  }
  if (rules.dirty) {
    return std::make_unique<StackedPass<kBytes, Word, false, true>>(size.sets, size.records, size.ways);
  }
  return std::make_unique<StackedPass<kBytes, Word, false, false>>(size.sets, size.records, size.ways);
}

template <std::size_t kBytes>
std::unique_ptr<GridPass> make(const Size& size, const GridRules& rules) {
  return rules.wide ? make<kBytes, std::uint64_t>(size, rules) : make<kBytes, std::uint32_t>(size, rules);
}

}  // namespace

std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                            const GridRules& rules) {
  // A set never has more lines than there are; a set that no line can be of is never used.
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((span + sets - 1) / sets, 1, ways));
  const Size size{static_cast<std::uint32_t>(sets), static_cast<std::uint32_t>(std::min(sets, span)), most};
  if (most <= 16) {
    return make<16>(size, rules);
  }
  if (most <= 32) {
    return make<32>(size, rules);
  }
  if (most <= 64) {
    return make<64>(size, rules);
  }
  if (most <= 128) {
    return make<128>(size, rules);
  }
  return make<256>(size, rules);
}

}  // namespace rayreplay::memory
