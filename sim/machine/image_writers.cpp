#include "sim/machine/image_writers.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "capture/spirv/module.hpp"

namespace rayreplay::machine {
namespace {

bool writes_images(const std::vector<std::uint32_t>& words) {
  std::string reason;
  const std::optional<spirv::Module> module = spirv::parse(words, reason);
  return module && std::ranges::any_of(module->functions, [](const spirv::Function& function) {
           return std::ranges::any_of(function.body, [](const spirv::Instruction& instruction) {
             return instruction.is(spv::Op::OpImageWrite);
           });
         });
}

}  // namespace

std::vector<std::uint8_t> image_writers(const trace::Trace& trace) {
  std::vector<std::uint8_t> writers;
  for (const trace::Shader& shader : trace.shaders) {
    writers.push_back(writes_images(shader.spirv) ? 1 : 0);
  }
  return writers;
}

}  // namespace rayreplay::machine
