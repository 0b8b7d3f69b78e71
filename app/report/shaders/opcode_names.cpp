#include "app/report/shaders/opcode_names.hpp"

#include <algorithm>

namespace rayreplay::report {

std::string opcode_name(std::uint32_t opcode) {
  const std::span<const OpcodeName> names = opcode_names();
  const auto found =
      std::lower_bound(names.begin(), names.end(), opcode,
                       [](const OpcodeName& name, std::uint32_t number) { return name.opcode < number; });
  return found != names.end() && found->opcode == opcode ? std::string(found->name) : "Op" + std::to_string(opcode);
}

}  // namespace rayreplay::report
