#include "app/report/profile/guard_table.hpp"

namespace rayreplay::report {

using output::Cell;
using output::Table;

Table guard_table(const trace::Profile& trace, std::span<const profile::GuardProfile> guards) {
  Table table;
  table.columns = {{"pipeline", "pipeline"}, {"shader", "shader"},     {"stage", "stage", {}, 0, true},
                   {"name", "name"},         {"function", "function"}, {"block", "block if it fails"},
                   {"guard", "guard"},       {"held", "held"},         {"failed", "failed"}};
  for (const profile::GuardProfile& guard : guards) {
    const trace::Shader& shader = trace.shaders[guard.shader];
    const auto count = [](const std::optional<std::uint64_t>& lanes) { return lanes ? Cell{*lanes} : Cell{}; };
    table.rows.push_back({std::uint64_t{guard.pipeline}, std::uint64_t{guard.shader},
                          std::string(to_string(shader.stage)), shader.name, guard.function_name,
                          std::uint64_t{guard.label}, guard.text, count(guard.held), count(guard.failed)});
  }
  return table;
}

}  // namespace rayreplay::report
