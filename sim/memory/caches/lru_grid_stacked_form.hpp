// The stacks of lru_grid_stacked.cpp, which includes this once for each form that it is compiled in: in a namespace of
// its own, with `to_front` as that form has it. No include guard for that reason.

/// kLanes: lines that a stack has room for, 32 to 256.
template <std::size_t kLanes, bool kWide, bool kDirty>
class StackedPass final : public GridPass {
 public:
  explicit StackedPass(const Size& size) : number_(size.sets), sets_(size.records), short_(sets_ * kLanes) {}

  std::size_t run(std::span<const GridAccess> accesses, std::uint32_t lines, GridAccess* left) override {
    sectors_.reserve(lines);
    lines_ = lines;
    if (lines > kShortLines && long_.empty()) {
      long_ = Stacks<std::uint32_t>(sets_ * kLanes);
      std::copy_n(short_.begin(), sets_ * kLanes, long_.begin());
      short_ = Stacks<std::uint16_t>();
    }
    return long_.empty() ? run_on(short_.begin(), accesses, left) : run_on(long_.begin(), accesses, left);
  }

  [[nodiscard]] GridDepths finish() override {
    std::vector<std::uint8_t> depth_of(lines_, GridDepths::kGone);
    if (long_.empty()) {
      look_at(short_.begin(), depth_of);
    } else {
      look_at(long_.begin(), depth_of);
    }
    GridDepths depths = sectors_.finish(depth_of);
    // What was not among the lanes is nowhere.
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

  template <class Tag>
  std::size_t run_on(Tag* stacks, std::span<const GridAccess> accesses, GridAccess* left) {
    std::array<Tag*, kTogether> stack;
    std::array<std::uint8_t, kTogether> depths;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < accesses.size(); i += kTogether) {
      const std::span<const GridAccess> some = accesses.subspan(i, std::min(kTogether, accesses.size() - i));
      for (std::size_t k = 0; k < some.size(); ++k) {
        stack[k] = stacks + number_(some[k].line) * kLanes;
        __builtin_prefetch(stack[k], 1);
        if constexpr (kLanes * sizeof(Tag) > 64) {
          __builtin_prefetch(reinterpret_cast<const char*>(stack[k]) + 64, 1);
        }
      }
      sectors_.prefetch(some);
      for (std::size_t k = 0; k < some.size(); ++k) {
        depths[k] = to_front<kLanes>(stack[k], static_cast<Tag>(some[k].number));
      }
      kept += sectors_.touch(some, depths, left == nullptr ? nullptr : left + kept);
    }
    return kept;
  }

  template <class Tag>
  void look_at(const Tag* stacks, std::vector<std::uint8_t>& depth_of) {
    for (std::size_t set = 0; set < sets_; ++set) {
      const Tag* const stack = stacks + set * kLanes;
      std::size_t used = 0;
      for (; used < kLanes && stack[used] != 0; ++used) {
        depth_of[stack[used]] = static_cast<std::uint8_t>(std::min<std::size_t>(used, GridDepths::kGone));
      }
      ++used_[std::min<std::size_t>(used, used_.size() - 1)];
    }
  }

  SetNumber number_;
  std::size_t sets_;
  std::uint32_t lines_ = 1;
  Stacks<std::uint16_t> short_;  ///< numbers of lines, the last used first; 0: none
  Stacks<std::uint32_t> long_;   ///< the same, since there are many
  SectorDepths<kWide, kDirty> sectors_;
  GridDepths::ByDepth used_{};  ///< sets by lines on their stack at the end
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
