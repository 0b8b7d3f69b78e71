// The stacks of lru_grid_stacked.cpp, which includes this once for each form that it is compiled in: in a namespace of
// its own, with `match` and `move_to_front` as that form has them. No include guard for that reason.

/// kBytes: room for slots, 16 to 256. Word: of the depths of a line's sectors.
template <std::size_t kBytes, class Word, bool kSectors, bool kDirty>
class StackedPass final : public GridPass {
 public:
  /// `records`: sets that a line can be of.
  StackedPass(std::uint32_t sets, std::uint32_t records, std::uint32_t ways)
      : number_(sets),
        sets_(records),
        ways_(ways),
        depths_at_(kLines + kBytes * sizeof(std::uint32_t)),
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
  static constexpr std::size_t kOrder = 16;  ///< after `Top`
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

  /// Whether anything changed. Few branches: what they depend on is hard to foresee.
  bool take(std::uint8_t* record, const GridAccess& access) {
    Top& top = *top_of(record);
    if (top.line_not == ~access.line) {
      return take_top(record, access, top.slot);
    }
    std::uint8_t* const order = order_of(record);
    const std::uint32_t used = top.used;
    const bool full = used == ways_;
    const std::uint32_t same = find(record, access.line);
    const bool found = same != kNoLine;
    const std::uint32_t fresh = full ? order[ways_ - 1] : used;
    const auto slot = static_cast<std::uint8_t>(found ? same : fresh);
    // A fresh slot comes from behind the others, or from the end of them.
    const auto behind = static_cast<std::uint8_t>(full ? ways_ - 1 : used);
    const std::uint8_t there = depth_of(order, slot);
    const std::uint8_t depth = found ? there : kGone;
    if constexpr (kDirty) {
      Word& dirty = dirty_of(record)[slot];
      if (!found) {
        if (full) {
          write_dirty(dirty, static_cast<std::uint8_t>(ways_), depths_);
        }
        dirty = static_cast<Word>(~Word{0});
      }
    }
    move_to_front<kBytes>(order, found ? there : behind, slot);
    top.used = static_cast<std::uint8_t>(used + static_cast<std::uint32_t>(!found && !full));
    top.line_not = ~access.line;
    top.slot = slot;
    record[kSignatures + slot] = signature(access.line);
    lines_of(record)[slot] = ~access.line;
    ++depths_.found[depth];
    // Of a fresh line all sectors become as deep as the access, which is gone: whatever stood there before.
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

  /// Slots that are not in use have line zero, which turned round is none.
  static std::uint32_t find(const std::uint8_t* record, std::uint32_t line) {
    const auto* const lines = reinterpret_cast<const std::uint32_t*>(record + kLines);
    for (std::uint32_t from = 0; from < kBytes; from += kStep) {
      std::uint64_t same = match<kStep>(record + kSignatures + from, signature(line));
      // One, as a rule, or none: then this looks at the last slot.
      const std::uint32_t slot = from + first_of(same);
      if (lines[slot] == ~line) {
        return slot;
      }
      for (same &= same - 1; same != 0; same &= same - 1) {
        const std::uint32_t other = from + static_cast<std::uint32_t>(std::countr_zero(same));
        if (lines[other] == ~line) {
          return other;
        }
      }
    }
    return kNoLine;
  }

  /// Of a slot in use; of others any number.
  static std::uint8_t depth_of(const std::uint8_t* order, std::uint8_t slot) {
    // Bytes behind those in use are zeros: the first is the slot.
    std::uint32_t from = 0;
    std::uint64_t same = match<kStep>(order, slot);
    while (kBytes > kStep && same == 0 && from + kStep < kBytes) {
      from += kStep;
      same = match<kStep>(order + from, slot);
    }
    return static_cast<std::uint8_t>(from + first_of(same));
  }

  static constexpr std::uint32_t kStep = std::min<std::uint32_t>(kBytes, 64);
  static std::uint32_t first_of(std::uint64_t bits) {
    return static_cast<std::uint32_t>(std::countr_zero(bits | std::uint64_t{1} << (kStep - 1)));
  }

  SetNumber number_;
  std::size_t sets_, ways_, depths_at_, dirty_at_, stride_;
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::uint8_t* first_ = nullptr;
  std::array<std::uint8_t*, kBatch> records_{};
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

std::unique_ptr<GridPass> make_for(const Size& size, const GridRules& rules) {
  if (size.ways <= 16) {
    return make<16>(size, rules);
  }
  if (size.ways <= 32) {
    return make<32>(size, rules);
  }
  if (size.ways <= 64) {
    return make<64>(size, rules);
  }
  if (size.ways <= 128) {
    return make<128>(size, rules);
  }
  return make<256>(size, rules);
}
