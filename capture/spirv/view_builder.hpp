// Builds the inline view (inline_view.hpp): one copy of a function at a time.
#pragma once

#include <string>
#include <unordered_map>

#include "capture/spirv/inline_view.hpp"
#include "capture/spirv/variable_slots.hpp"

namespace rayreplay::spirv {

class ViewBuilder {
 public:
  ViewBuilder(const Analysed& module, std::string& reason) : m_(module), reason_(reason), slots_(module.index, view_) {}
  [[nodiscard]] std::optional<InlineView> build(std::uint32_t function);

 private:
  /// Meaning of an id of a copy: a value, a pointer, or neither (a constant).
  struct Binding {
    Value value = kNoValue;
    std::optional<Pointer> pointer;
  };
  struct Return {
    Node block;
    Binding value;
  };
  struct Patch {
    std::uint32_t use;
    Id label;
  };
  struct Copy {
    std::uint32_t function = 0;
    std::unordered_map<Id, Binding> known;
    std::vector<Node> head, tail;  ///< by the function's block: its first and its last part
    std::vector<Patch> patches;    ///< uses of joins whose block is not known yet
    std::vector<Return> returns;
  };

  bool expand(Copy& copy, std::size_t depth);
  bool add_block(Copy& copy, Node block, std::size_t depth);
  bool add_instruction(Copy& copy, Place place, const Instruction& i);
  bool add_call(Copy& copy, Place place, const Instruction& i, std::size_t depth, Node& at);
  void add_join(Copy& copy, Place place, const Instruction& phi);
  void add_variable(Copy& copy, Place place, const Instruction& i);
  void add_load(Copy& copy, Place place, const Instruction& i);
  void add_store(Copy& copy, Place place, const Instruction& i);
  void add_other(Copy& copy, Place place, const Instruction& i);
  bool bind_pointer(Copy& copy, const Instruction& i);

  Node new_block(const Copy& copy, Node block);
  Operation& begin(Place place);
  void finish(Copy& copy, const Instruction& i, bool has_result);
  void use(Value value);
  void use_pointer(const Pointer& pointer);
  void access(AccessKind kind, const Pointer& pointer);
  [[nodiscard]] Binding find(Copy& copy, Id id);
  Value value_of(Copy& copy, Id id);
  Value new_value(Id type);
  [[nodiscard]] Value resolved(Value value) const;
  bool fail(std::string reason);

  const Analysed& m_;
  std::string& reason_;
  InlineView view_;
  VariableSlots slots_;
  std::vector<Value> alias_;  ///< by value: the value that it equals, or itself
  bool failed_ = false;
};

}  // namespace rayreplay::spirv
