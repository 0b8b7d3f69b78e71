// A set of SMs, gone through in ascending order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace rayreplay::machine {

class SmSet {
 public:
  explicit SmSet(std::uint32_t sms) : words_((sms + 63) / 64) {}

  void insert(std::uint32_t sm) {
    words_[sm / 64] |= std::uint64_t{1} << (sm % 64);
  }
  void erase(std::uint32_t sm) {
    words_[sm / 64] &= ~(std::uint64_t{1} << (sm % 64));
  }
  [[nodiscard]] bool any() const {
    return std::any_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word != 0; });
  }
  /// Calls each(sm), which may erase that SM.
  template <class Each>
  void each(Each each) {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
        each(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace rayreplay::machine
