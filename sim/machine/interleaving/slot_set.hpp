// A set of warp slots of an SM, as bits.
//
// Contract: slots are 0 … kMax − 1. Each operation takes at most kMax / 64 steps.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace rayreplay::machine {

class SlotSet {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  static constexpr std::uint32_t kMax = 1024;

  [[nodiscard]] bool any() const {
    return count_ != 0;
  }
  [[nodiscard]] std::uint32_t count() const {
    return count_;
  }
  [[nodiscard]] bool has(std::uint32_t slot) const {
    return (words_[slot / 64] >> (slot % 64) & 1U) != 0;
  }
  /// The slot must not be in the set.
  void insert(std::uint32_t slot) {
    words_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    filled_ |= 1U << (slot / 64);
    ++count_;
  }
  /// The slot must be in the set.
  void erase(std::uint32_t slot) {
    std::uint64_t& word = words_[slot / 64];
    word &= ~(std::uint64_t{1} << (slot % 64));
    filled_ &= ~((word == 0 ? 1U : 0U) << (slot / 64));
    --count_;
  }
  /// The lowest slot at or above `from`; kNone if there is none.
  [[nodiscard]] std::uint32_t at_or_above(std::uint32_t from) const {
    if (from >= kMax) {
      return kNone;
    }
    std::size_t word = from / 64;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (from % 64));
    if (bits == 0) {
      const std::uint32_t later = filled_ & (~std::uint32_t{1} << word);
      if (later == 0) {
        return kNone;
      }
      word = static_cast<std::size_t>(std::countr_zero(later));
      bits = words_[word];
    }
    return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  /// The slot with `rank` lower slots in the set; it must exist.
  [[nodiscard]] std::uint32_t nth(std::uint32_t rank) const {
    std::size_t word = 0;
    for (auto below = static_cast<std::uint32_t>(std::popcount(words_[word])); below <= rank;
         below = static_cast<std::uint32_t>(std::popcount(words_[word]))) {
      rank -= below;
      ++word;
    }
    std::uint64_t bits = words_[word];
    for (; rank > 0; --rank) {
      bits &= bits - 1;
    }
    return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  /// Renumbers the slots above `gone` by one less; `gone` must not be in the set.
  void close_gap(std::uint32_t gone) {
    const std::size_t first = gone / 64;
    const std::uint64_t below = (std::uint64_t{1} << (gone % 64)) - 1;
    words_[first] = (words_[first] & below) | (words_[first] >> 1U & ~below);
    for (std::size_t word = first + 1; word < words_.size(); ++word) {
      words_[word - 1] |= words_[word] << 63U;
      words_[word] >>= 1U;
    }
    filled_ = 0;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      filled_ |= (words_[word] == 0 ? 0U : 1U) << word;
    }
  }

 private:
  std::array<std::uint64_t, kMax / 64> words_{};
  std::uint32_t filled_ = 0;  ///< bit w: word w has a slot
  std::uint32_t count_ = 0;
};

}  // namespace rayreplay::machine
