// Names of SPIR-V's instructions, from the headers that the project is built with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rayreplay::report {

struct OpcodeName {
  std::uint32_t opcode;
  std::string_view name;
};

/// By rising opcode; made by cmake/embed_opcodes.cmake.
[[nodiscard]] std::span<const OpcodeName> opcode_names();

/// "OpLoad"; "Op5316" for one that the headers do not know.
[[nodiscard]] std::string opcode_name(std::uint32_t opcode);

}  // namespace rayreplay::report
