// Results of instructions whose operands are known.
//
// A value is a number, or a vector of them. Each component is known by its 32 bits (integers, floats), or as 0 and 1
// (booleans), or not known. So a vector of which one component was always the same is known in part.
//
// Contract: `computed` gives the components of a result that follow from the known ones, as SPIR-V defines them for
// every implementation. Not known are: results that SPIR-V leaves undefined (shifts by 32 or more, conversions out of
// range); other types, and numbers of other widths than 32 bits; arithmetic with floats, which implementations round
// and fuse differently; and comparisons and conversions of NaN, infinities and denormalised floats, which they may
// change (VK_KHR_shader_float_controls). Zeros of both signs compare as equal; their bits differ. O(words).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/optimise/function_blocks.hpp"
#include "capture/spirv/module_index.hpp"

namespace rayreplay::optimise {

/// By component; none: not known.
using Components = std::vector<std::optional<Word>>;
/// By id. Values of which nothing is known are absent.
using Known = std::unordered_map<Id, Components>;

enum class NumberKind : std::uint8_t { Boolean, Integer, Float };

struct NumberType {
  NumberKind kind = NumberKind::Integer;
  std::size_t components = 1;
  Id component = 0;  ///< type of a component
};

/// Of booleans, integers and floats of 32 bits, and vectors of them; none: another type.
[[nodiscard]] std::optional<NumberType> number_type(const spirv::ModuleIndex& index, Id type);

[[nodiscard]] inline bool knows_all(const Components& components) {
  for (const auto& component : components) {
    if (!component) {
      return false;
    }
  }
  return true;
}

/// The known components of a value: of a constant all. As many entries as its type has components; empty: another type.
[[nodiscard]] Components components_of(Id value, const Known& known, const spirv::ModuleIndex& index);

/// None: no component follows.
[[nodiscard]] std::optional<Components> computed(const Instruction& i, const Known& known,
                                                 const spirv::ModuleIndex& index);

/// "5", "0.25", "(0, any, 1)"; integers without sign; NaN with its bits.
[[nodiscard]] std::string text_of(const Components& components, NumberKind kind);

}  // namespace rayreplay::optimise
