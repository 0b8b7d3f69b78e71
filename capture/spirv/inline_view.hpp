// A shader as one function: a copy of the callee replaces every call of a function, and the variable or part of a
// variable that a pointer points to replaces the pointer.
//
// The state of a thread is in values and slots. A value is the result of an instruction; each copy of the instruction
// has its own. A slot is a part of a variable of the thread (storage classes Function, Private, and those of payloads):
// a number, or the whole variable if it has more than kMostPartsOfVariable parts. Constants are neither.
//
// Contract: takes any parsed module. The view is empty, with the reason, for recursion, for addresses of variables that
// are chosen at run time, and beyond the limits below. `order` leaves out unreached blocks. Time and memory are linear
// in the operations of the view.
#pragma once

#include <optional>
#include <string>

#include "capture/spirv/call_graph.hpp"
#include "capture/spirv/control_flow.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/spirv/module_index.hpp"

namespace rayreplay::spirv {

inline constexpr std::size_t kMostOperations = 1U << 20;
inline constexpr std::size_t kMostSlots = 1U << 16;
inline constexpr std::uint64_t kMostPartsOfVariable = 4096;  ///< a variable with more is one slot
inline constexpr std::size_t kMostCallDepth = 64;

using Value = std::uint32_t;
using Slot = std::uint32_t;
inline constexpr Value kNoValue = 0xFFFFFFFF;

/// An instruction of the module.
struct Place {
  std::uint32_t function = 0;     ///< index in Module::functions
  std::uint32_t instruction = 0;  ///< index in Function::body
  friend auto operator<=>(const Place&, const Place&) = default;
};

enum class AccessKind : std::uint8_t {
  Read,
  Write,     ///< of every slot in the range
  MayWrite,  ///< of some slots in the range
  Forget,    ///< the variable comes into being, without a value
};
struct Access {
  AccessKind kind = AccessKind::Read;
  Slot first = 0;
  std::uint32_t count = 0;
};

struct Operation {
  Place place;
  Value result = kNoValue;  ///< kNoValue also for a constant result
  std::uint32_t uses = 0, uses_end = 0;
  std::uint32_t address = 0;  ///< index of the first use that only chooses where memory or slots are accessed
  std::uint32_t accesses = 0, accesses_end = 0;
  /// Storage class that is read or written; kNoStorage: none.
  Word storage = 0xFFFFFFFF;
  Id root = 0;                   ///< its variable; 0: not known
  bool stores = false;           ///< writes its operand; false: writes a result of its own
  bool joins = false;            ///< OpPhi, or the result of an inlined call: one use for each incoming edge
  bool constant_source = false;  ///< joins: a constant is among the sources
};
inline constexpr Word kNoStorage = 0xFFFFFFFF;

struct ViewBlock {
  std::uint32_t first = 0, end = 0;  ///< operations
  std::uint32_t function = 0;        ///< index in Module::functions
  Node block = 0;                    ///< of the function
  bool starts = true;                ///< false: the part of the block behind a call
};

struct ValueInfo {
  std::uint64_t bytes = 0;
  std::uint32_t opaque = 0;            ///< hit objects and ray queries
  std::uint32_t operation = kNoValue;  ///< its definition; kNoValue: none
  Node block = kNoNode;                ///< of the operation
};

struct SlotInfo {
  std::uint64_t bytes = 0;
  std::uint32_t opaque = 0;
  Id variable = 0;
  spv::StorageClass storage = spv::StorageClass::Function;
  bool set_at_entry = false;  ///< an initialiser, or an incoming payload
};

/// A call after which other shaders run, or threads are regrouped.
struct ViewCall {
  std::uint32_t operation = 0;
  Node block = 0;
  CallKind kind = CallKind::Trace;
  Slot payload = 0;  ///< first slot of what it passes
  std::uint32_t payload_slots = 0;
};

struct InlineView {
  ControlFlow flow;  ///< `blocks` empty; nodes are indices of `blocks` below
  std::vector<ViewBlock> blocks;
  std::vector<Operation> operations;
  std::vector<Value> uses;      ///< may hold kNoValue among those of joins
  std::vector<Node> use_block;  ///< by use: of joins the block that the value comes from, else kNoNode
  std::vector<Access> accesses;
  std::vector<ValueInfo> values;
  std::vector<SlotInfo> slots;
  std::vector<ViewCall> calls;     ///< in the order of `flow.order`
  std::vector<std::string> notes;  ///< what the view does not know
};

/// A module with its indices and control flow; all members refer to the module, which must outlive them.
struct Analysed {
  explicit Analysed(const Module& module);

  const Module& module;
  ModuleIndex index;
  Classifier classes;
  CallGraph calls;
  /// By function; empty: no control flow, for the reason.
  std::vector<std::optional<ControlFlow>> flows;
  std::vector<std::string> reasons;
};

/// `function`: index of the entry point's function. `reason` says why the result is empty.
[[nodiscard]] std::optional<InlineView> inline_view(const Analysed& module, std::uint32_t function,
                                                    std::string& reason);

}  // namespace rayreplay::spirv
