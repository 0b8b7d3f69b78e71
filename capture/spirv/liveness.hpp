// Live state of a thread at the calls of a shader.
//
// A value is live across a call if its definition comes before the call and some path from the call uses it. A slot is
// live across a call if it may have been written before the call and some path from the call reads it before writing
// it. Live state leaves out what the call itself defines or passes (its payload), and incoming payloads, which the
// caller keeps.
//
// Contract: the search takes one value or slot at a time, backwards from its uses to its definition, as in Boissinot et
// al., "A Non-iterative Data-Flow Algorithm for Computing Liveness Sets in Strict SSA Programs" (APLAS 2011). It is
// linear in the sizes of the live ranges. The result is empty beyond `kMostLiveSteps`.
#pragma once

#include <optional>

#include "capture/spirv/inline_view.hpp"

namespace rayreplay::spirv {

inline constexpr std::uint64_t kMostLiveSteps = std::uint64_t{1} << 28;

struct LiveSet {
  std::vector<Value> values;  ///< ascending
  std::vector<Slot> slots;    ///< ascending
};

struct Liveness {
  std::vector<LiveSet> calls;                ///< by InlineView::calls
  std::vector<std::uint64_t> live_in_bytes;  ///< by block: values and slots that are live where it begins
  std::uint64_t steps = 0;                   ///< that it took
};

[[nodiscard]] std::optional<Liveness> liveness(const InlineView& view);

/// Bytes of one live set.
struct LiveState {
  std::uint64_t value_bytes = 0, slot_bytes = 0;
  std::uint64_t recomputed_bytes = 0;  ///< of values, left out of value_bytes
  std::uint64_t opaque = 0;            ///< hit objects and ray queries, whose size only the driver knows
  [[nodiscard]] std::uint64_t bytes() const {
    return value_bytes + slot_bytes;
  }
};

/// Splits a live set into what must be kept and what recomputes from kept values and constants with at most
/// `most_instructions` instructions that issue (0: components and other names only). Values are taken in the order of
/// their definition; of several that give each other the first is kept. Loads never recompute, since memory and
/// variables change. Linear in the operations.
class Recomputation {
 public:
  Recomputation(const InlineView& view, const Analysed& module, std::uint32_t most_instructions);
  [[nodiscard]] LiveState state(const LiveSet& live);

 private:
  const InlineView& view_;
  std::uint32_t most_;
  std::vector<std::uint32_t> issued_;  ///< by operation: 0, 1, or kNever
  std::vector<std::uint32_t> cost_;    ///< by value, for one live set
};

}  // namespace rayreplay::spirv
