// The stacks of lru_grid_stacked.cpp, included once for each instruction set, each in its own namespace with its own
// `to_front`. No include guard for that reason.

/// Not inlined, and a function of its own: it is called once for many accesses, its code takes longest to compile, and
/// stacks of all capacities share it.
template <bool kLeave, bool kWide, bool kDirty>
[[gnu::noinline]] std::size_t touch_sectors(SectorDepths<kWide, kDirty>& sectors, std::span<const GridAccess> some,
                                            const std::uint8_t* depths, GridAccess* left) {
  return sectors.template touch<kLeave>(some, depths, left);
}

/// kLanes: capacity of a stack in lines, 32 to 256.
template <std::size_t kLanes, bool kWide, bool kDirty>
class StackedPass final : public GridPass {
 public:
  explicit StackedPass(const Size& size)
      : number_(size.sets), sets_(size.records), by_number_(size.by_number), short_(sets_ * kLanes) {}

  std::size_t run(std::span<const GridAccess> accesses, std::uint32_t lines, GridAccess* left) override {
    sectors_.reserve(lines);
    if (by_number_ && lines > kShortLines && long_.empty()) {
      long_ = Stacks<std::uint32_t>(sets_ * kLanes);
      std::copy_n(short_.begin(), sets_ * kLanes, long_.begin());
      short_ = Stacks<std::uint16_t>();
    }
    std::size_t kept = 0;
    if (!by_number_) {
      kept = run_on<false>(short_.begin(), accesses, left);
    } else {
      kept = long_.empty() ? run_on<true>(short_.begin(), accesses, left) : run_on<true>(long_.begin(), accesses, left);
    }
    touches_ += accesses.size();
    if (touches_ > kSettle) {
      sectors_.settle();
      touches_ = 0;
    }
    return kept;
  }

  [[nodiscard]] GridDepths finish(std::span<const std::uint32_t> lines) override {
    std::vector<std::uint8_t> depth_of(lines.size(), GridDepths::kGone);
    if (long_.empty()) {
      look_at(short_.begin(), lines, depth_of);
    } else {
      look_at(long_.begin(), lines, depth_of);
    }
    GridDepths depths = sectors_.finish(depth_of);
    // A line that is not in the lanes is not present.
    for (GridDepths::ByDepth* const all : {&depths.found, &depths.whole, &depths.filled, &depths.written}) {
      for (std::size_t depth = kLanes; depth < GridDepths::kGone; ++depth) {
        (*all)[GridDepths::kGone] += std::exchange((*all)[depth], 0);
      }
    }
    return depths;
  }

  [[nodiscard]] std::uint64_t resident(std::uint64_t ways) const override {
    std::uint64_t lines = 0;
    for (std::uint64_t used = 0; used < used_.size(); ++used) {
      lines += used_[used] * std::min(used, ways);
    }
    return lines;
  }

 private:
  static constexpr std::size_t kTogether = SectorDepths<kWide, kDirty>::kTogether;
  static constexpr std::size_t kNearBytes = std::size_t{1} << 14U;
  static constexpr std::size_t kSettle = SectorDepths<kWide, kDirty>::kMaxTouches / 2;

  /// The line's tag in its stack; never 0.
  template <bool kByNumber>
  [[nodiscard]] std::uint32_t tag_of(std::uint32_t line, std::uint32_t number) const {
    return kByNumber ? number : number_.quotient(line) + 1;
  }

  template <bool kByNumber, class Tag>
  std::size_t run_on(Tag* stacks, std::span<const GridAccess> accesses, GridAccess* left) {
    const bool far = !sectors_.small() || sets_ * kLanes * sizeof(Tag) > kNearBytes;
    std::array<std::uint32_t, kTogether> set;
    std::array<std::uint8_t, kTogether> depths;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < accesses.size(); i += kTogether) {
      const std::span<const GridAccess> some = accesses.subspan(i, std::min(kTogether, accesses.size() - i));
      for (std::size_t k = 0; k < some.size(); ++k) {
        set[k] = number_(some[k].line);
      }
      if (far) {
        for (std::size_t k = 0; k < some.size(); ++k) {
          const Tag* const stack = stacks + set[k] * kLanes;
          __builtin_prefetch(stack, 1);
          if constexpr (kLanes * sizeof(Tag) > 64) {
            __builtin_prefetch(reinterpret_cast<const char*>(stack) + 64, 1);
          }
          sectors_.prefetch(some[k]);
        }
      }
      // Two loops: iterations of the short first one overlap, although each depends on a late depth.
      if (kByNumber && sets_ == 1) {
        to_front_of_one<kLanes>(stacks, some, depths.data());
      } else {
        for (std::size_t k = 0; k < some.size(); ++k) {
          const auto tag = static_cast<Tag>(tag_of<kByNumber>(some[k].line, some[k].number));
          depths[k] = to_front<kLanes>(stacks + set[k] * kLanes, tag);
        }
      }
      kept += left == nullptr ? touch_sectors<false>(sectors_, some, depths.data(), nullptr)
                              : touch_sectors<true>(sectors_, some, depths.data(), left + kept);
    }
    return kept;
  }

  template <class Tag>
  void look_at(const Tag* stacks, std::span<const std::uint32_t> lines, std::vector<std::uint8_t>& depth_of) {
    for (std::size_t set = 0; set < sets_; ++set) {
      const Tag* const stack = stacks + set * kLanes;
      const auto used = static_cast<std::size_t>(std::find(stack, stack + kLanes, Tag{0}) - stack);
      ++used_[std::min<std::size_t>(used, used_.size() - 1)];
    }
    if constexpr (kDirty) {
      for (std::uint32_t number = 1; number < lines.size(); ++number) {
        const std::uint32_t tag =
            by_number_ ? tag_of<true>(lines[number], number) : tag_of<false>(lines[number], number);
        depth_of[number] = depth_in<kLanes>(stacks + number_(lines[number]) * kLanes, static_cast<Tag>(tag));
      }
    }
  }

  SetNumber number_;
  std::size_t sets_;
  bool by_number_;  ///< tags are line numbers; else line / sets
  std::size_t touches_ = 0;
  Stacks<std::uint16_t> short_;  ///< tags, the last used first; 0: none
  Stacks<std::uint32_t> long_;   ///< the same, when numbers exceed 16 bits
  SectorDepths<kWide, kDirty> sectors_;
  GridDepths::ByDepth used_{};  ///< sets, by number of lines on their stack at the end
};

template <std::size_t kLanes>
std::unique_ptr<GridPass> make(const Size& size, const GridRules& rules) {
  if (rules.wide) {
    return rules.dirty ? std::unique_ptr<GridPass>(std::make_unique<StackedPass<kLanes, true, true>>(size))
                       : std::make_unique<StackedPass<kLanes, true, false>>(size);
  }
  return rules.dirty ? std::unique_ptr<GridPass>(std::make_unique<StackedPass<kLanes, false, true>>(size))
                     : std::make_unique<StackedPass<kLanes, false, false>>(size);
}

std::unique_ptr<GridPass> make_for(const Size& size, const GridRules& rules) {
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
