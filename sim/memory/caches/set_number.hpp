// Set (line mod sets) and tag (line / sets) of a 32-bit line, without a division.
//
// Contract: exact for every line and 1 to 2^32 − 1 sets (Lemire, Kaser, Kurz, "Faster remainder by direct computation",
// Software: Practice and Experience 2019).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace rayreplay::memory {

class SetNumber {
 public:
  explicit SetNumber(std::uint32_t sets)
      : sets_(sets),
        mask_(std::has_single_bit(sets) ? sets - 1 : 0),
        power_(std::has_single_bit(sets)),
        inverse_(std::numeric_limits<std::uint64_t>::max() / sets + 1) {}

  [[nodiscard]] std::uint32_t operator()(std::uint32_t line) const {
    if (power_) {
      return line & mask_;
    }
    return static_cast<std::uint32_t>((static_cast<Wide>(inverse_ * line) * sets_) >> 64U);
  }
  /// Two sets or more.
  [[nodiscard]] std::uint32_t quotient(std::uint32_t line) const {
    return static_cast<std::uint32_t>((static_cast<Wide>(inverse_) * line) >> 64U);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint32_t sets_;
  std::uint32_t mask_;
  bool power_;
  std::uint64_t inverse_;
};

}  // namespace rayreplay::memory
