// The stack of the bitmap engine, also used by other engines.
//
// Contract: that of ReuseStack; exact. `form` and `first_capacity` affect speed only; tests set them.
#pragma once

#include "sim/memory/reuse/engines/line_table.hpp"
#include "sim/memory/reuse/engines/slot_rank.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {

class BitmapStack final : public ReuseStack {
 public:
  static constexpr std::uint64_t kFirstCapacity = std::uint64_t{1} << 16U;
  static constexpr std::uint64_t kMaxLines = SlotRank::kMaxSlots / 2;

  explicit BitmapStack(SlotRank::Form form = SlotRank::best_form(), std::uint64_t first_capacity = kFirstCapacity)
      : form_(form), slots_(first_capacity, form) {}

  void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) override;
  [[nodiscard]] std::uint64_t live_lines() const override {
    return slots_.live();
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    return table_.memory_bytes() + slots_.memory_bytes();
  }

 private:
  void renumber();

  SlotRank::Form form_;
  LineTable table_;  ///< slot of the last access, plus one
  SlotRank slots_;
};

}  // namespace rayreplay::memory
