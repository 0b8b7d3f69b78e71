// SPIR-V modules of any words, instruction by instruction.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace rayreplay::test {

/// A module, instruction by instruction.
class Assembler {
 public:
  Assembler& op(std::uint32_t number, std::initializer_list<std::uint32_t> operands = {}) {
    words_.push_back(static_cast<std::uint32_t>((operands.size() + 1) << 16) | number);
    words_.insert(words_.end(), operands);
    return *this;
  }
  /// OpEntryPoint, named "main"
  Assembler& entry(std::uint32_t model, std::uint32_t id) {
    return op(15, {model, id, 0x6E69616D, 0});
  }
  Assembler& function(std::uint32_t id) {
    return op(54, {1, id, 0, 2}).op(248, {id + 1000});
  }
  Assembler& end() {
    return op(253).op(56);
  }
  Assembler& calls(std::uint32_t id) {
    return op(57, {1, 9999, id});
  }
  /// OpFAdd of a scalar
  Assembler& add() {
    return op(129, {7, 5, 6, 6});
  }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const {
    return words_;
  }

 private:
  std::vector<std::uint32_t> words_{0x07230203, 0x10600, 0, 10000, 0, 3U << 16U | 14, 0, 1};  // OpMemoryModel
};

inline constexpr std::uint32_t kClosestHitModel = 5316, kRayGenerationModel = 5313;

}  // namespace rayreplay::test
