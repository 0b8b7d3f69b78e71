#include "capture/profile/counted_instruction.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

void CountedRow::fail(const char* column, const std::string& what, const std::string& found,
                      const std::string& expected) const {
  throw Error(ErrorKind::Input, {what, fmt::format("{}:/profile/{}/{}[{}]", *file, table, column, row), found, expected,
                                 "capture the application again; if your own program wrote this, mend it there"});
}

FoundInstruction find_instruction(const spirv::Analysed& analysed, std::uint32_t function, std::uint32_t block,
                                  std::uint32_t instruction, const CountedRow& row) {
  if (function >= analysed.flows.size() || !analysed.flows[function]) {
    row.fail("function", "the shader's module has no such function", std::to_string(function),
             fmt::format("less than {}, the number of functions", analysed.flows.size()));
  }
  const spirv::ControlFlow& flow = *analysed.flows[function];
  if (block >= flow.blocks.size()) {
    row.fail("block", "the function has no such block", std::to_string(block),
             fmt::format("less than {}, the number of blocks", flow.blocks.size()));
  }
  const spirv::Block& found = flow.blocks[block];
  if (instruction < found.first || instruction > found.last) {
    row.fail("instruction", "the block has no such instruction", std::to_string(instruction),
             fmt::format("{} to {}", found.first, found.last));
  }
  return {&analysed.module.functions[function].body[instruction], &found};
}

}  // namespace rayreplay::profile
