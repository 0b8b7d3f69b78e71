// Classes of SPIR-V instructions, by the processor's kind of work.
//
// Contract: one table (instruction_class.cpp) serves every count of instructions in the project. None and Move issue
// nothing. None is labels, declarations and debug information. Move is components and pointers that only get other
// names, and loads and stores of variables that compilers keep in registers. An opcode that the table does not know is
// Other.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

enum class InstructionClass : std::uint8_t {
  Arithmetic,
  Special,  ///< roots, powers, exponentials, logarithms, trigonometric functions, length, distance, normalize
  Load,     ///< from memory
  Store,    ///< to memory
  Texture,  ///< images: sampled, read and written
  Control,  ///< branches, calls of functions, returns
  Trace,    ///< calls of shaders, reordering, ray queries
  Other,
  Move,
  None,
};
inline constexpr std::size_t kInstructionClasses = 10;

/// "arithmetic": the name in JSON and tables.
[[nodiscard]] std::string_view to_string(InstructionClass of);

[[nodiscard]] constexpr bool issues(InstructionClass of) {
  return of != InstructionClass::Move && of != InstructionClass::None;
}

/// A call after which other shaders run, or threads are regrouped.
enum class CallKind : std::uint8_t {
  Trace,
  Execute,  ///< a hit object's shader
  Reorder,
  Callable,
  Report,               ///< of an intersection, which may call the any-hit shader
  ReorderExecute,       ///< one instruction that reorders and executes
  TraceReorderExecute,  ///< one instruction that traces, reorders and executes
};
[[nodiscard]] std::string_view to_string(CallKind kind);
[[nodiscard]] std::optional<CallKind> call_kind(Word op);

/// The class of a module's instructions. Linear in the module to make, constant time for an instruction.
class Classifier {
 public:
  explicit Classifier(const Module& module);
  [[nodiscard]] InstructionClass of(const Instruction& instruction) const;
  /// Issue slots that the instruction takes: one for each component where processors work component by component, else
  /// one; 0 if it issues nothing. The components are those of the result (arithmetic, conversions, loads), of what is
  /// stored, or of the vector or matrix that is reduced (dot products, lengths, distances, matrix products: a
  /// multiply-add each).
  [[nodiscard]] std::uint32_t issue_slots(const Instruction& instruction) const;

 private:
  void see(const Instruction& instruction);
  [[nodiscard]] std::uint32_t components_of(Id value) const;
  [[nodiscard]] bool is_register(const Instruction& access) const;

  Id glsl_ = 0;  ///< the instruction set GLSL.std.450
  std::unordered_set<Id> nonsemantic_;
  /// Pointers to variables that compilers keep in registers: storage class Function or Private, whole or by constant
  /// indices.
  std::unordered_set<Id> register_types_, constants_, registers_;
  std::unordered_map<Id, std::uint32_t> components_;  ///< by vector and matrix type
  std::unordered_map<Id, std::uint32_t> columns_;     ///< by matrix type
  std::unordered_map<Id, Id> types_;                  ///< of the values with such a type
};

}  // namespace rayreplay::spirv
