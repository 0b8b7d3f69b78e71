// Imports functions of one module (the library) into another, with the types, constants, decorations, capabilities and
// extensions that they need; makes types and constants of the target, each once, as SPIR-V requires.
//
// Contract: the library is one of our probe modules. Its specialisation constants become plain constants with the
// values of `frozen` (by SpecId). New globals follow the target's; `functions` keeps new functions until `finish`
// appends them. Under the Vulkan memory model without device scope, atomics get the queue family's scope.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/instrument/module_names.hpp"
#include "capture/instrument/probes/constants.h"

namespace rayreplay::instrument {

/// A probe module, parsed.
struct Library {
  Module module;
  std::unordered_map<std::string, Id> functions;  ///< by name, without GLSL's signature
  std::unordered_map<Id, std::size_t> globals;    ///< result id -> index in module.globals
  std::unordered_map<Id, std::size_t> bodies;     ///< function id -> index in module.functions
};

/// Throws nothing; a module that does not parse gives an empty library.
[[nodiscard]] Library make_library(std::span<const Word> words);

using FrozenConstants = std::array<std::uint64_t, RR_CONST_COUNT>;

struct HashWords {
  std::size_t operator()(const std::vector<Word>& words) const {
    std::size_t h = words.size();
    for (const Word w : words) {
      h = (h ^ w) * 0x9E3779B97F4A7C15ULL;
      h ^= h >> 29;
    }
    return h;
  }
};

class Linker {
 public:
  Linker(Module& target, const FrozenConstants& frozen);

  [[nodiscard]] Id fresh() {
    return target_.bound++;
  }
  [[nodiscard]] Id type_void();
  [[nodiscard]] Id type_bool();
  [[nodiscard]] Id type_uint();
  [[nodiscard]] Id type_u64();
  [[nodiscard]] Id type_float();
  [[nodiscard]] Id type_double();
  [[nodiscard]] Id type_uvec(std::uint32_t components);
  [[nodiscard]] Id type_vec(std::uint32_t components);
  /// A type of its own.
  [[nodiscard]] Id type_array(Id element, std::uint32_t length);
  [[nodiscard]] Id type_pointer(spv::StorageClass storage, Id type);
  [[nodiscard]] Id type_function(Id result, std::span<const Id> parameters);
  [[nodiscard]] Id constant(std::uint32_t value);
  [[nodiscard]] Id constant_u64(std::uint64_t value);
  [[nodiscard]] Id constant_double(double value);
  /// A constant of 64 bits that nothing else shares, so that its words can be changed later.
  [[nodiscard]] Id own_constant(std::uint64_t value);
  [[nodiscard]] Id own_constant(std::uint32_t value);
  /// Changes the low word of a constant of own_constant().
  void change(Id own_constant, std::uint32_t value);
  /// A new global variable. `initializer` 0: none.
  [[nodiscard]] Id variable(spv::StorageClass storage, Id type, Id initializer = 0);
  void capability(spv::Capability capability);
  void extension(std::string_view name);
  void decorate(Id id, std::initializer_list<Word> decoration);
  void add_function(Function function) {
    functions_.push_back(std::move(function));
  }

  /// The function `name` of the library, imported once, with the library's capabilities; 0 if the library has none.
  [[nodiscard]] Id function(const Library& library, std::string_view name);

  /// Appends the new functions.
  void finish();

 private:
  struct Import;

  Id global(const Instruction& instruction);
  void import_globals(const Library& library, Import& import);
  void import_function(const Library& library, Import& import, Id id);
  [[nodiscard]] Id frozen_constant(const Library& library, Import& import, const Instruction& instruction);

  Module& target_;
  const FrozenConstants& frozen_;
  bool narrow_scope_ = false;  ///< the target's memory model does not allow device scope
  std::unordered_map<std::vector<Word>, Id, HashWords> known_;  ///< globals that may exist once only
  std::map<const Library*, std::unordered_map<Id, Id>> mapped_;
  std::vector<Function> functions_;
};

}  // namespace rayreplay::instrument
