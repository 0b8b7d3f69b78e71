#include "capture/profile/instruction_sums.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

void InstructionSums::add(std::uint32_t pipeline, std::uint16_t shader, const trace::InstructionCounts& counts,
                          RowRange rows, const std::string& file) {
  const char* const group = loads_ ? "/profile/loads" : "/profile/branches";
  const std::string lanes = std::string(group) + "/lanes";
  ShaderSum& of_shader = shaders_[{pipeline, shader}];
  ++of_shader.parts;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    Sum& sum = of_shader.instructions[{counts.function[row], counts.instruction[row]}];
    if (sum.parts++ == 0) {
      sum.block = counts.block[row];
    } else if (sum.block != counts.block[row]) {
      throw Error(ErrorKind::Input,
                  {"two runs have one instruction of a module in different blocks",
                   fmt::format("{}:{}/block[{}]", file, group, row), std::to_string(counts.block[row]),
                   fmt::format("{}, as in another run", sum.block), "capture the run with the wrong block again"});
    }
    // Groups and agreement are parts of these.
    add_count(sum.lanes, counts.lanes[row],
              {file, lanes.c_str(), "the sum of an instruction's executions exceeds 64 bits"}, row);
    sum.groups += counts.groups[row];
    for (std::size_t a = 0; a < (loads_ ? 2U : 1U); ++a) {
      const std::uint64_t uniform = a == 0 ? counts.uniform[row] : counts.uniform_address[row];
      Agreed& agreed = sum.agreed.at(a);
      const bool compared = uniform != trace::kNotCompared;
      agreed.some = agreed.some || compared;
      agreed.all = agreed.all && compared;
      agreed.groups += compared ? uniform : 0;
    }
  }
}

trace::InstructionCounts InstructionSums::sums() const {
  trace::InstructionCounts result;
  const auto uniform = [](const Agreed& agreed) { return agreed.all ? agreed.groups : trace::kNotCompared; };
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [place, sum] : shader.instructions) {
      if (sum.parts != shader.parts) {
        continue;
      }
      result.pipeline.push_back(key.first);
      result.shader.push_back(key.second);
      result.function.push_back(place.first);
      result.block.push_back(sum.block);
      result.instruction.push_back(place.second);
      result.lanes.push_back(sum.lanes);
      result.groups.push_back(sum.groups);
      result.uniform.push_back(uniform(sum.agreed[0]));
      if (loads_) {
        result.uniform_address.push_back(uniform(sum.agreed[1]));
      }
    }
  }
  return result;
}

void InstructionSums::add_left_out(std::set<LeftOut>& left_out) const {
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [place, sum] : shader.instructions) {
      LeftOut left{loads_ ? Left::Load : Left::Branch, key.first, key.second, place.first, place.second, 0};
      if (sum.parts != shader.parts) {
        left_out.insert(left);
        continue;
      }
      for (std::size_t a = 0; a < sum.agreed.size(); ++a) {
        if (sum.agreed.at(a).some && !sum.agreed.at(a).all) {
          left.left = !loads_ ? Left::BranchUniform : a == 0 ? Left::LoadUniform : Left::LoadAddress;
          left_out.insert(left);
        }
      }
    }
  }
}

}  // namespace rayreplay::profile
