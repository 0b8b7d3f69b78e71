// Pointers to variables, and the slots that they point to.
//
// Contract: a pointer names a range of slots (the thread's variables) or memory. Constant indices narrow the range. The
// first index that is not constant ends this: the range stays, and is inexact, so an access concerns some of its slots.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/spirv/inline_view.hpp"

namespace rayreplay::spirv {

struct Pointer {
  Word storage = 0;
  Id root = 0;  ///< variable; 0: not known
  Id type = 0;  ///< pointed to
  Slot first = 0;
  std::uint32_t count = 0;  ///< of slots; 0: memory
  bool exact = true;
  std::vector<Value> addresses;  ///< values that choose the place
};

/// True for storage classes whose variables are a thread's state.
[[nodiscard]] bool is_state(Word storage);
/// True for outgoing payloads and callable data.
[[nodiscard]] bool is_passed(Word storage);

class VariableSlots {
 public:
  VariableSlots(const ModuleIndex& index, InlineView& view) : index_(index), view_(view) {}

  /// A new variable's pointer, with slots of its own if it is state.
  [[nodiscard]] Pointer declare(const Instruction& variable);
  /// A module's variable, declared once; empty for any other id.
  [[nodiscard]] std::optional<Pointer> global(Id id);
  /// The part that an index chooses; `address`: the index's value if it is not constant.
  void narrow(Pointer& pointer, Id index, Value address) const;
  /// True if the type is a pointer without a value of its own: to all but physical storage.
  [[nodiscard]] bool is_logical_pointer(Id type) const;

 private:
  void flatten(Id type, std::uint32_t opaque, const SlotInfo& like);

  const ModuleIndex& index_;
  InlineView& view_;
  std::unordered_map<Id, Pointer> globals_;
};

}  // namespace rayreplay::spirv
