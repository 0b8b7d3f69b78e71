#include "app/report/profile/path_table.hpp"

namespace rayreplay::report {

using output::Cell;
using output::Show;
using output::Table;

Table path_table(const trace::Profile& trace, const profile::PathProfile& paths) {
  Table table;
  table.columns = {{"shader", "shader"},
                   {"stage", "stage", {}, 0, true},
                   {"name", "name"},
                   {"calls", "calls"},
                   {"paths", "paths"},
                   {"most_taken_share", "of the commonest", Show::Percent, 1},
                   {"least_instructions", "least instructions"},
                   {"mean_instructions", "mean", Show::Plain, 1},
                   {"most_instructions", "most"},
                   {"instructions_share", "of all instructions", Show::Percent, 1}};
  double all = 0;
  for (const profile::ShaderPaths& of : paths.shaders) {
    all += static_cast<double>(of.executed);
  }
  for (const profile::ShaderPaths& of : paths.shaders) {
    const trace::Shader& shader = trace.shaders[of.shader];
    const auto calls = static_cast<double>(of.calls);
    const auto executed = static_cast<double>(of.executed);
    const bool called = of.calls != 0;
    table.rows.push_back({std::uint64_t{of.shader}, std::string(to_string(shader.stage)), shader.name, of.calls,
                          of.taken, called ? Cell{static_cast<double>(of.most_calls) / calls} : Cell{},
                          called ? Cell{of.least} : Cell{}, called ? Cell{executed / calls} : Cell{},
                          called ? Cell{of.most} : Cell{}, all > 0 ? Cell{executed / all} : Cell{}});
  }
  return table;
}

}  // namespace rayreplay::report
