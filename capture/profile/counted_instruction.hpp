// The instructions that rows of a profile name, found in the modules of their shaders.
//
// Contract: `find_instruction` gives the instruction with its block, or fails (`CountedRow::fail`, kind Input) with the
// column of the row that names no function, block or instruction of the module. `ShaderCodes` makes what is known of a
// shader's module once, `Code(spirv::Module, const trace::Shader&)`; a shader without a module that can be parsed is
// the failure of its column. O(1) beside the makings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/spirv/inline_view.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

/// A row of a table of a trace's profile.
struct CountedRow {
  const std::string* file = nullptr;
  const char* table = "";  ///< "values"
  std::size_t row = 0;

  [[noreturn]] void fail(const char* column, const std::string& what, const std::string& found,
                         const std::string& expected) const;
};

struct FoundInstruction {
  const spirv::Instruction* instruction = nullptr;
  const spirv::Block* block = nullptr;
};

/// The numbers are those of the row's columns `function`, `block` and `instruction`.
[[nodiscard]] FoundInstruction find_instruction(const spirv::Analysed& analysed, std::uint32_t function,
                                                std::uint32_t block, std::uint32_t instruction, const CountedRow& row);

template <class Code>
class ShaderCodes {
 public:
  explicit ShaderCodes(const std::vector<trace::Shader>& shaders) : shaders_(shaders) {}

  /// `what`: of the failure, "the shader of a load is no SPIR-V module".
  [[nodiscard]] const Code& of(std::uint16_t shader, const CountedRow& row, const char* what) {
    std::unique_ptr<const Code>& code = codes_[shader];
    if (!code) {
      std::string reason;
      auto module = spirv::parse(shaders_[shader].spirv, reason);
      if (!module) {
        row.fail("shader", what, reason, "its module in /shaders");
      }
      code = std::make_unique<const Code>(std::move(*module), shaders_[shader]);
    }
    return *code;
  }

 private:
  const std::vector<trace::Shader>& shaders_;
  std::map<std::uint16_t, std::unique_ptr<const Code>> codes_;
};

}  // namespace rayreplay::profile
