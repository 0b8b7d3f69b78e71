// The queues of one warp: a cursor per lane, and the waiting lanes of each call.
//
// Contract: every queue ends with kNoCall. `pop` advances lanes that share a call to their next one.
#pragma once

#include "sim/simt/kernel/bits.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/kernel/waiting_table.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// Loops over lanes or slots are unrolled by four; missing entries use the 65th place. A loop that may end after any
/// iteration mispredicts its exit, which costs more than the extra iterations.
inline constexpr unsigned kAtOnce = 4;

template <class Code>
class Queues {
 public:
  Queues(const WarpMemory<Code>& memory, Code favoured) : waiting_(memory, favoured) {
    for (Code& code : nobody_) {
      code = kNoCall<Code>;
    }
  }

  [[nodiscard]] const WaitingTable<Code>& waiting() const {
    return waiting_;
  }
  [[nodiscard]] unsigned slot_of_lane(unsigned lane) const {
    return waiting_.slot_of(*cursor_[lane]);
  }
  void start(unsigned lane, const Code* queue) {
    cursor_[lane] = queue;
    waiting_.put(*queue, std::uint64_t{1} << lane);
  }

  /// The `count` lanes of `lanes` wait at `slot`. Force-inlined: with all kernels in one file GCC considers it too
  /// large, and the surrounding loop gets slower.
  [[gnu::always_inline]] void pop(unsigned slot, std::uint64_t lanes, unsigned count) {
    waiting_.remove(slot, lanes);
    if (count > kMany && pop_alike(lanes)) {
      return;
    }
    cursor_[64] = nobody_;
    do {
      for (unsigned i = 0; i < kAtOnce; ++i) {
        const unsigned lane = lowest(lanes);
        const Code* const next = cursor_[lane] + 1;
        cursor_[lane] = next;
        waiting_.put(*next, lowest_bit(lanes));
        lanes = without_lowest(lanes);
      }
    } while (lanes != 0);
  }

 private:
  /// Above this number of lanes the check for a common next call is worthwhile (measured).
  static constexpr unsigned kMany = 20;

  /// If all lanes continue to one call, enters them at once; else does nothing.
  bool pop_alike(std::uint64_t lanes) {
    const Code first = cursor_[lowest(lanes)][1];
    unsigned difference = 0;
    for (std::uint64_t rest = lanes; rest != 0; rest = without_lowest(rest)) {
      difference |= static_cast<unsigned>(cursor_[lowest(rest)][1] ^ first);
    }
    if (difference != 0) {
      return false;
    }
    for (std::uint64_t rest = lanes; rest != 0; rest = without_lowest(rest)) {
      ++cursor_[lowest(rest)];
    }
    waiting_.put(first, lanes);
    return true;
  }

  WaitingTable<Code> waiting_;
  const Code* cursor_[65];
  Code nobody_[kAtOnce];  ///< the 65th queue; one pop reads at most three of its codes
};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
