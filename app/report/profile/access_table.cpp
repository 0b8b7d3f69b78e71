#include "app/report/profile/access_table.hpp"

namespace rayreplay::report {

using output::Cell;
using output::Show;
using output::Table;

Table access_table(const trace::Trace& trace, const std::vector<profile::SiteAccesses>& accesses) {
  Table table;
  table.columns = {{"shader", "shader"},
                   {"stage", "stage", {}, 0, true},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"block", "block"},
                   {"instruction", "instruction"},
                   {"kind", "kind"},
                   {"memory", "memory"},
                   {"set", "set"},
                   {"binding", "binding"},
                   {"element", "element", {}, 0, true},
                   {"bytes", "bytes"},
                   {"executions", "executions"},
                   {"warp_instructions", "warp instructions"},
                   {"sectors", "32-byte sectors"},
                   {"lines", "128-byte lines"},
                   {"sectors_per_instruction", "sectors per instruction", Show::Plain, 2},
                   {"lines_per_instruction", "lines per instruction", Show::Plain, 2},
                   {"sectors_share", "of all sectors", Show::Percent, 1}};
  double all = 0;
  for (const profile::SiteAccesses& of : accesses) {
    all += static_cast<double>(of.group_sectors);
  }
  const trace::AccessSites& sites = trace.access_sites;
  for (std::size_t row = 0; row < sites.size(); ++row) {
    const profile::SiteAccesses& of = accesses[row];
    const trace::Shader& shader = trace.shaders[sites.shader[row]];
    const bool buffer = sites.space[row] == trace::AccessSpace::Descriptor;
    const bool image = sites.space[row] == trace::AccessSpace::Image;
    const auto where = [](bool known, std::uint64_t number) { return known ? Cell{number} : Cell{}; };
    const auto sectors = static_cast<double>(of.group_sectors);
    const auto groups = static_cast<double>(of.groups);
    const bool ran = of.groups != 0 && !image;
    table.rows.push_back({std::uint64_t{sites.shader[row]}, std::string(to_string(shader.stage)), shader.name,
                          std::uint64_t{sites.function[row]}, std::uint64_t{sites.block[row]},
                          std::uint64_t{sites.instruction[row]}, std::string(to_string(sites.kind[row])),
                          std::string(to_string(sites.space[row])), where(buffer || image, sites.set[row]),
                          where(buffer || image, sites.binding[row]), where(buffer, sites.element[row]),
                          where(!image, sites.bytes[row]), of.lanes, of.groups, where(!image, of.sectors),
                          where(!image, of.lines), ran ? Cell{sectors / groups} : Cell{},
                          ran ? Cell{static_cast<double>(of.group_lines) / groups} : Cell{},
                          !image && all > 0 ? Cell{sectors / all} : Cell{}});
  }
  return table;
}

}  // namespace rayreplay::report
