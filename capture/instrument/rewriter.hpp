// Shared by the passes: the module under change, the linker, and the values of every probe call.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/instrument/analysis.hpp"
#include "capture/instrument/instrument.hpp"
#include "capture/instrument/link.hpp"
#include "capture/instrument/module_names.hpp"

namespace rayreplay::instrument {

/// Arguments of every probe about the calling thread.
inline constexpr std::size_t kCommonArguments = 5;

class Rewriter {
 public:
  Rewriter(Module& target, const Options& wishes, Analysis analysis, const FrozenConstants& frozen, Result& out);

  Module& module;
  const Options& options;
  Linker linker;
  Result& result;
  const Analysis analysis;

  /// Adds a line to the result's notes, once.
  void note(const std::string& text);

  /// Instructions of a value: they go to `out`.
  [[nodiscard]] Id load(std::vector<Instruction>& out, Id type, Id pointer);
  void store(std::vector<Instruction>& out, Id pointer, Id value);
  [[nodiscard]] Id bitcast(std::vector<Instruction>& out, Id type, Id value);
  [[nodiscard]] Id call(std::vector<Instruction>& out, Id type, Id function, std::span<const Id> arguments);

  /// A call to a probe of events.comp with the common arguments and then `more`.
  void probe(std::vector<Instruction>& out, const char* name, std::span<const std::uint32_t> shaders,
             std::span<const Id> more);
  /// The same for a probe with a result of type `type`.
  [[nodiscard]] Id probe(std::vector<Instruction>& out, Id type, const char* name,
                         std::span<const std::uint32_t> shaders, std::span<const Id> more);
  /// The same for a probe that is linked already.
  [[nodiscard]] Id call_probe(std::vector<Instruction>& out, Id type, Id function,
                              std::span<const std::uint32_t> shaders, std::span<const Id> more);
  /// A function of events.comp.
  [[nodiscard]] Id event_function(const char* name);
  /// A function of lookups.comp.
  [[nodiscard]] Id lookup(const char* name);

  /// The value of a built-in variable as u32, uvec3 or float (canonical_type), read where `shaders` run.
  [[nodiscard]] Id builtin(std::vector<Instruction>& out, spv::BuiltIn which, std::span<const std::uint32_t> shaders);
  /// The same of one shader's own variable, never through a private copy.
  [[nodiscard]] Id builtin_of(std::vector<Instruction>& out, spv::BuiltIn which, std::uint32_t shader);
  /// A private variable that every shader sets from the built-in at its entry.
  [[nodiscard]] Id private_copy(spv::BuiltIn which);
  [[nodiscard]] const std::map<spv::BuiltIn, Id>& private_copies() const {
    return private_copies_;
  }
  /// Input variables of the application decorated with a built-in.
  [[nodiscard]] const std::vector<Id>& variables(spv::BuiltIn which) const;

  /// u32 value of an operand that may be a signed integer.
  [[nodiscard]] Id as_uint(std::vector<Instruction>& out, Id value);

  /// The id of the running shader, one of `shaders`.
  [[nodiscard]] Id shader_id(std::vector<Instruction>& out, std::span<const std::uint32_t> shaders);
  /// The private variable that holds the shader id, for functions of several shaders; 0: none needed so far.
  [[nodiscard]] Id shader_variable() const {
    return shader_variable_;
  }
  /// A private variable of this module, in every shader's interface. `initializer` 0: none.
  [[nodiscard]] Id private_of(Id type, Id initializer = 0);
  [[nodiscard]] Id private_uint(Id initializer = 0) {
    return private_of(linker.type_uint(), initializer);
  }

  /// The application's definition outside functions; null: none. Valid until a global is added.
  [[nodiscard]] const Instruction* global(Id id) const;
  /// The type of the value of a variable in `variables`.
  [[nodiscard]] Id pointee(Id variable) const;
  /// Of a vector type.
  [[nodiscard]] Id component_type(Id vector) const;
  /// The type in which `builtin` gives a value.
  [[nodiscard]] Id canonical_type(spv::BuiltIn which);

  /// The trace calls' counter of a shader invocation (hit objects); 0: not needed.
  Id trace_counter = 0;

  /// Adds used variables to the interfaces of the entry points; false: one grew too long.
  [[nodiscard]] bool finish_interfaces();

 private:
  /// Changes while a shader runs: Vulkan requires volatile reads.
  [[nodiscard]] bool is_volatile(spv::BuiltIn which) const;
  [[nodiscard]] Id variable_of(spv::BuiltIn which, std::uint32_t shader);
  [[nodiscard]] Id load_variable(std::vector<Instruction>& out, spv::BuiltIn which, Id variable);

  std::map<spv::BuiltIn, std::vector<Id>> variables_;  ///< the application's first, then ours
  std::unordered_map<Id, Id> pointee_;                 ///< of variables_: type of the value
  std::vector<std::set<Id>> interfaces_;               ///< by shader, as given
  std::vector<std::set<Id>> added_;                    ///< by shader
  std::set<Id> privates_;
  std::map<spv::BuiltIn, Id> private_copies_;
  Id shader_variable_ = 0;
  bool clock_ = false;
};

}  // namespace rayreplay::instrument
