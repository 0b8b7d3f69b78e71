// Comparison of each lane's value with that of the leading lane of its group, bit by bit.
//
// Contract: `compare` appends instructions to a body, and to the module the types and constants that they need. What
// cannot be compared is known before, from `is_comparable` and `address_of`. O(words of the values).
//
// Floats are compared as words: NaNs of the same bits are equal, zeros of different signs are not. Composites are
// compared by their members. Floats of 16 bits are widened first, so their NaNs may compare as equal.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "capture/instrument/rewriter.hpp"

namespace rayreplay::instrument {

/// Larger values are not compared.
inline constexpr std::uint32_t kMostComparedWords = 64;

/// A load of a buffer, push constant, shader record or physical address, or a read or sample of an image.
[[nodiscard]] bool is_counted_load(const Rewriter& rewriter, const Instruction& instruction);

/// Definitions of a function's pointers and images. The function must stay as it is while they are in use.
class PointerDefinitions {
 public:
  explicit PointerDefinitions(const spirv::Function& function);
  /// Null: it is defined outside the function.
  [[nodiscard]] const Instruction* find(Id id) const {
    const auto found = definitions_.find(id);
    return found == definitions_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<Id, const Instruction*> definitions_;
};

/// The values that choose a load's address: a physical pointer, or the indices that are not constant and, of images,
/// the coordinates and the operands that follow them. Empty: constants alone choose it. Without a result, `why` has the
/// reason.
[[nodiscard]] std::optional<std::vector<Id>> address_of(const Rewriter& rewriter, const PointerDefinitions& definitions,
                                                        const Instruction& load, std::string& why);

/// Whether values of a type can be compared.
[[nodiscard]] bool is_comparable(const Rewriter& rewriter, Id type);

/// Components of a type whose values have tables: 1 for numbers of 32 bits, 2 to 4 for vectors of them. 0 for any other
/// type, with the reason in `why`.
[[nodiscard]] std::uint32_t value_components(const Rewriter& rewriter, Id type, std::string& why);

/// Id of the components of a value of such a type, as a vector of four words; those beyond the last are 0.
[[nodiscard]] Id value_words(Rewriter& rewriter, std::vector<Instruction>& out, Id value, std::uint32_t components);

/// Id of a truth value, in each lane: whether it has the leader's values. `values`: one or more, of comparable types.
[[nodiscard]] Id compare(Rewriter& rewriter, std::vector<Instruction>& out, Id leader, std::span<const Id> values);

}  // namespace rayreplay::instrument
