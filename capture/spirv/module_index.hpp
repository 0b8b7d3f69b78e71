// Definitions, names and decorations of a module's ids, and the sizes of its types.
//
// Contract: construction is linear in the module; look-ups take any id. A type's bytes are those that a value needs in
// registers: numbers their width, truth values 1, physical pointers and acceleration structures 8, vectors, matrices,
// arrays and structures the sum of their parts without padding. Images, samplers and logical pointers have none: they
// are read again from their descriptors. (So are loaded acceleration structures; the inline view gives them 0 bytes.)
// Hit objects and ray queries are opaque and counted apart, because only the driver knows their size. Arrays whose
// length a specialisation constant gives have its default length.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

/// A type's parts, one for each number or opaque object in it.
struct TypeParts {
  std::uint64_t bytes = 0;  ///< saturates at kMostTypeBytes
  std::uint64_t parts = 1;  ///< 1 or more; saturates likewise
  std::uint64_t count = 0;  ///< direct parts; 0: a number, or of unknown length
  std::uint32_t opaque = 0;
  std::uint32_t depth = 1;  ///< nesting
};
inline constexpr std::uint64_t kMostTypeBytes = std::uint64_t{1} << 40;

class ModuleIndex {
 public:
  explicit ModuleIndex(const Module& module);

  /// Null: no instruction has this result.
  [[nodiscard]] const Instruction* definition(Id id) const {
    return id < definitions_.size() ? definitions_[id] : nullptr;
  }
  /// The definition if it is one of a type with this opcode.
  [[nodiscard]] const Instruction* type(Id id, spv::Op op) const;
  [[nodiscard]] Id type_of(Id value) const;
  /// True for constants, specialisation constants and undefined values outside functions.
  [[nodiscard]] bool is_constant(Id id) const;
  /// An integer constant of at most 32 bits; empty for specialisation constants and anything else.
  [[nodiscard]] std::optional<Word> constant(Id id) const;

  [[nodiscard]] TypeParts parts(Id type) const;
  /// The type of member, element, column or component `index`; 0: there is none.
  [[nodiscard]] Id part_type(Id type, std::uint64_t index) const;

  /// OpName; empty if there is none.
  [[nodiscard]] std::string name(Id id) const;
  [[nodiscard]] std::optional<spv::BuiltIn> built_in(Id variable) const;
  [[nodiscard]] bool is_volatile(Id variable) const;
  /// The first variable of a storage class with this Location; 0: none.
  [[nodiscard]] Id variable_at(spv::StorageClass storage, Word location) const;
  /// A storage buffer of SPIR-V 1.0 (BufferBlock): storage class Uniform, but shaders may write it.
  [[nodiscard]] bool is_buffer_block(Id type) const;
  [[nodiscard]] std::string string(Id id) const;  ///< OpString

 private:
  void see_type(const Instruction& i);
  [[nodiscard]] std::uint64_t length(Id array) const;

  std::vector<const Instruction*> definitions_;
  std::unordered_map<Id, TypeParts> parts_;
  std::unordered_map<Id, const Instruction*> names_, strings_;
  std::unordered_map<Id, Word> built_ins_;
  std::map<std::pair<Word, Word>, Id> located_;  ///< by storage class and location
  std::unordered_set<Id> volatile_, buffer_blocks_;
};

}  // namespace rayreplay::spirv
