// What happens in which cycle: a ring of lists, one for each cycle ahead.
//
// Contract: each of `ids` numbers waits in at most one cycle, less than `horizon` cycles ahead of the one taken last.
// O(1) to add; to find the next cycle with a number, O(cycles passed over / 64). Memory: 4 bytes a number and a cycle
// of the horizon.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace rayreplay::machine {

class WakeRing {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  WakeRing(std::uint64_t ids, std::uint64_t horizon)
      : head_(std::bit_ceil(horizon < 64 ? 64 : horizon), kNone),
        used_(head_.size() / 64),
        next_(ids),
        mask_(head_.size() - 1) {}

  void add(std::uint32_t id, std::uint64_t cycle) {
    const std::uint64_t place = cycle & mask_;
    next_[id] = head_[place];
    head_[place] = id;
    used_[place / 64] |= std::uint64_t{1} << (place % 64);
  }
  /// Calls each(id) for those of this cycle, in no particular order; they may not add to it.
  template <class Each>
  void take(std::uint64_t cycle, Each each) {
    const std::uint64_t place = cycle & mask_;
    std::uint32_t id = head_[place];
    if (id == kNone) {
      return;
    }
    head_[place] = kNone;
    used_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    while (id != kNone) {
      const std::uint32_t after = next_[id];
      each(id);
      id = after;
    }
  }
  /// The first cycle after this one with a number; kNever. `cycle` itself must have been taken.
  [[nodiscard]] std::uint64_t after(std::uint64_t cycle) const {
    const std::uint64_t start = (cycle + 1) & mask_;
    std::uint64_t word = start / 64;
    std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (start % 64));
    for (std::size_t looked = 0; bits == 0; ++looked) {
      if (looked == used_.size()) {
        return kNever;
      }
      word = word + 1 == used_.size() ? 0 : word + 1;
      bits = used_[word];
    }
    const std::uint64_t place = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
    return cycle + 1 + ((place - start) & mask_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  std::vector<std::uint32_t> head_;
  std::vector<std::uint64_t> used_;
  std::vector<std::uint32_t> next_;
  std::uint64_t mask_;
};

}  // namespace rayreplay::machine
