#include "app/report/profile/profile_table.hpp"

#include <fmt/format.h>

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Table;

Cell ratio(double part, double whole) {
  return whole > 0 ? Cell{part / whole} : Cell{};
}

Cell number(std::optional<double> value) {
  return value ? Cell{*value} : Cell{};
}

}  // namespace

Table profile_shader_table(const trace::Profile& trace, const std::vector<profile::ShaderProfile>& shaders) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"stage", "stage"},
                   {"name", "name"},
                   {"entries", "entries"},
                   {"blocks", "blocks"},
                   {"unused_blocks", "unused"},
                   {"instructions", "instructions"},
                   {"unused_share", "unused share", output::Show::Percent, 1},
                   {"instructions_per_entry", "executed per entry", {}, 1},
                   {"instruction_efficiency", "SIMT by instruction", output::Show::Percent, 1}};
  for (const profile::ShaderProfile& shader : shaders) {
    const trace::Shader& known = trace.shaders[shader.shader];
    table.rows.push_back(
        {std::uint64_t{shader.pipeline}, std::uint64_t{shader.shader}, std::string(to_string(known.stage)), known.name,
         shader.entries, std::uint64_t{shader.blocks.size()}, shader.unused_blocks, shader.instructions,
         ratio(static_cast<double>(shader.unused_instructions), static_cast<double>(shader.instructions)),
         ratio(shader.lane_instructions, static_cast<double>(shader.entries)), number(shader.efficiency)});
  }
  return table;
}

Table profile_block_table(const trace::Profile& trace, const std::vector<profile::ShaderProfile>& shaders) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"function_name", "function"},
                   {"block", "block"},
                   {"label", "label"},
                   {"loop_depth", "loop depth"},
                   {"instructions", "instructions"},
                   {"lanes", "lanes"},
                   {"groups", "groups"},
                   {"instruction_efficiency", "SIMT by instruction", output::Show::Percent, 1},
                   {"unused", "unused"}};
  const double warp = trace.header.warp_size;
  for (const profile::ShaderProfile& shader : shaders) {
    for (const profile::BlockProfile& block : shader.blocks) {
      const double groups = static_cast<double>(block.groups.value_or(0));
      table.rows.push_back({std::uint64_t{shader.pipeline}, std::uint64_t{shader.shader},
                            trace.shaders[shader.shader].name, std::uint64_t{block.function}, block.function_name,
                            std::uint64_t{block.block}, fmt::format("%{}", block.label),
                            std::uint64_t{block.loop_depth}, std::uint64_t{block.instructions}, block.lanes,
                            block.groups ? Cell{*block.groups} : Cell{},
                            ratio(static_cast<double>(block.lanes), warp * groups), block.unused});
    }
  }
  return table;
}

}  // namespace rayreplay::report
