// The waiting lanes of each call: the state of a warp between two steps.
//
// Contract: `WaitingTable<Code>` holds the lanes at each call in at most 64 *slots*, because 64 lanes have at most 64
// calls at their heads. `occupied` is the set of slots in use; lanes with empty queues are `finished` and in no slot.
// Narrow codes are their own slots (kNoCall is the last one). Wide codes get slots on demand, found by a byte per code
// in the warp's memory. A step touches only what changes, so its cost does not depend on the warp size or the number of
// shaders.
#pragma once

#include "sim/simt/kernel/bits.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

template <class Code>
class WaitingTable;

template <>
class WaitingTable<std::uint8_t> {
 public:
  WaitingTable(const WarpMemory<std::uint8_t>&, std::uint8_t favoured)
      : favoured_((std::uint64_t{1} << favoured) - 1) {}

  [[nodiscard]] std::uint64_t occupied() const {
    return occupied_ & ~kFinished;
  }
  [[nodiscard]] std::uint64_t favoured() const {
    return occupied_ & favoured_;
  }
  [[nodiscard]] std::uint64_t finished() const {
    return lanes_[kNoCall<std::uint8_t>];
  }
  [[nodiscard]] unsigned slot_of(std::uint8_t code) const {
    return code;
  }
  /// Any slot up to 64; slot 64 means none and has no lanes and the greatest code.
  [[nodiscard]] std::uint64_t lanes(unsigned slot) const {
    return lanes_[slot];
  }
  [[nodiscard]] unsigned code(unsigned slot) const {
    return slot;
  }
  /// The slot of the lowest code; 64 if no lane waits.
  [[nodiscard]] unsigned first() const {
    return lowest(occupied());
  }
  void put(std::uint8_t code, std::uint64_t lanes) {
    lanes_[code] |= lanes;
    occupied_ |= std::uint64_t{1} << code;
  }
  void remove(unsigned slot, std::uint64_t lanes) {
    lanes_[slot] &= ~lanes;
    occupied_ &= ~(static_cast<std::uint64_t>(lanes_[slot] == 0) << slot);
  }

 private:
  static constexpr std::uint64_t kFinished = std::uint64_t{1} << kNoCall<std::uint8_t>;
  std::uint64_t lanes_[65] = {};
  std::uint64_t occupied_ = 0;
  std::uint64_t favoured_;
};

template <>
class WaitingTable<std::uint16_t> {
 public:
  WaitingTable(const WarpMemory<std::uint16_t>& memory, std::uint16_t favoured)
      : slot_of_(memory.slot_of), favoured_below_(favoured) {}

  [[nodiscard]] std::uint64_t occupied() const {
    return occupied_;
  }
  [[nodiscard]] std::uint64_t favoured() const {
    return occupied_ & favoured_;
  }
  [[nodiscard]] std::uint64_t finished() const {
    return finished_;
  }
  [[nodiscard]] unsigned slot_of(std::uint16_t code) const {
    return slot_of_[code];
  }
  [[nodiscard]] std::uint64_t lanes(unsigned slot) const {
    return lanes_[slot];
  }
  [[nodiscard]] unsigned code(unsigned slot) const {
    return code_[slot];
  }
  [[nodiscard]] unsigned first() const {
    unsigned best = 64;
    for (std::uint64_t slots = occupied_; slots != 0; slots = without_lowest(slots)) {
      const unsigned slot = lowest(slots);
      best = best == 64 || code_[slot] < code_[best] ? slot : best;
    }
    return best;
  }
  void put(std::uint16_t code, std::uint64_t lanes) {
    if (code == kNoCall<std::uint16_t>) {
      finished_ |= lanes;
      return;
    }
    unsigned slot = slot_of_[code];
    if ((occupied_ >> slot & 1) == 0 || code_[slot] != code) {
      slot = lowest(~occupied_);
      slot_of_[code] = static_cast<std::uint8_t>(slot);
      code_[slot] = code;
      const std::uint64_t bit = std::uint64_t{1} << slot;
      occupied_ |= bit;
      favoured_ = code < favoured_below_ ? favoured_ | bit : favoured_ & ~bit;
    }
    lanes_[slot] |= lanes;
  }
  void remove(unsigned slot, std::uint64_t lanes) {
    lanes_[slot] &= ~lanes;
    occupied_ &= ~(static_cast<std::uint64_t>(lanes_[slot] == 0) << slot);
  }

 private:
  std::uint64_t lanes_[65] = {};
  std::uint16_t code_[65] = {};
  std::uint64_t occupied_ = 0;
  std::uint64_t favoured_ = 0;
  std::uint64_t finished_ = 0;
  std::uint8_t* slot_of_;
  std::uint16_t favoured_below_;
};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
