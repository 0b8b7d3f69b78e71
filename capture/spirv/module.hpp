// A SPIR-V module as lists of instructions, by section.
//
// Contract: `parse` accepts any words and never reads outside them; `serialise(parse(x))` keeps x's instructions and
// their order for modules in SPIR-V's logical layout. Unknown instructions are kept. Missing words of an instruction
// read as 0, which is no id. Linear in the words.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/spirv/words.hpp"

namespace rayreplay::spirv {

/// Most words that an instruction can have.
inline constexpr std::size_t kMaxInstructionWords = 0xFFFF;
/// Ids above this are beyond SPIR-V's universal limits.
inline constexpr Word kMaxBound = 0x3FFFFF;

class Instruction {
 public:
  /// `words`: a whole instruction, of one word or more.
  explicit Instruction(std::span<const Word> words) : words_(words.begin(), words.end()) {}
  Instruction(Word op, std::initializer_list<Word> operands) : Instruction(op, std::span(operands)) {}
  Instruction(spv::Op op, std::initializer_list<Word> operands) : Instruction(number(op), std::span(operands)) {}
  Instruction(Word op, std::span<const Word> operands);

  [[nodiscard]] Word op() const {
    return words_[0] & 0xFFFF;
  }
  [[nodiscard]] bool is(spv::Op op) const {
    return this->op() == number(op);
  }
  /// Words including the first.
  [[nodiscard]] std::size_t size() const {
    return words_.size();
  }
  /// Word i, numbered as in the specification: operands begin at 1. 0 where there is none.
  [[nodiscard]] Word operator[](std::size_t i) const {
    return i < words_.size() ? words_[i] : 0;
  }
  /// Changes an operand that is there.
  void set(std::size_t i, Word word) {
    if (i > 0 && i < words_.size()) {
      words_[i] = word;
    }
  }
  void add(Word word) {
    words_.push_back(word);
  }
  [[nodiscard]] std::span<const Word> operands() const {
    return std::span(words_).subspan(1);
  }
  void append_to(std::vector<Word>& out) const;

  /// The literal string that starts at word i; empty if it does not end inside the instruction.
  [[nodiscard]] std::string string(std::size_t i) const;
  /// The word behind the string that starts at word i.
  [[nodiscard]] std::size_t after_string(std::size_t i) const;

  [[nodiscard]] Id result() const;
  [[nodiscard]] Id result_type() const;

 private:
  std::vector<Word> words_;  ///< the first word's upper half, the size, is written by append_to
};

/// A literal string's words.
[[nodiscard]] std::vector<Word> string_words(std::string_view text);

/// OpFunction to OpFunctionEnd, and instructions before the next OpFunction.
struct Function {
  std::vector<Instruction> body;

  [[nodiscard]] Id id() const {
    return body.empty() ? 0 : body.front()[2];
  }
};

struct Module {
  Word version = 0, generator = 0, bound = 0, schema = 0;
  std::vector<Instruction> capabilities, extensions, imports, memory_model, entry_points, execution_modes, debug,
      processed, annotations, globals;
  std::vector<Function> functions;

  [[nodiscard]] bool has(spv::Capability capability) const;
  [[nodiscard]] std::vector<Word> serialise() const;
};

/// Empty, with `reason` set, for words that are no module.
[[nodiscard]] std::optional<Module> parse(std::span<const Word> words, std::string& reason);

}  // namespace rayreplay::spirv
