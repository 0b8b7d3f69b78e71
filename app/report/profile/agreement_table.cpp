#include "app/report/profile/agreement_table.hpp"

#include <numeric>

#include <fmt/format.h>

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;
using output::Table;
using profile::Agreement;

Cell share(std::uint64_t part, std::uint64_t whole) {
  return whole != 0 ? Cell{static_cast<double>(part) / static_cast<double>(whole)} : Cell{};
}

}  // namespace

Table agreement_table(const trace::Profile& trace, const profile::AgreementProfile& profile) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"stage", "stage", {}, 0, true},
                   {"name", "name"},
                   {"subject", "uniformity of"},
                   {"places", "places"},
                   {"proven", "proven", {}, 0, true},
                   {"observed", "observed", {}, 0, true},
                   {"divergent", "divergent", {}, 0, true},
                   {"not_executed", "not executed"},
                   {"not_compared", "not compared"},
                   {"proven_share", "proven", Show::Percent, 1},
                   {"observed_share", "observed", Show::Percent, 1},
                   {"divergent_share", "divergent", Show::Percent, 1},
                   {"executions", "executions"},
                   {"executed_proven_share", "at proven", Show::Percent, 1},
                   {"executed_observed_share", "at observed", Show::Percent, 1},
                   {"executed_divergent_share", "at divergent", Show::Percent, 1},
                   {"uniform_executions_share", "uniform executions", Show::Percent, 1}};
  for (const profile::AgreementSum& sum : sums_of(profile)) {
    const trace::Shader& shader = trace.shaders[sum.shader];
    const auto places = [&](Agreement of) { return sum.places.at(static_cast<std::size_t>(of)); };
    const auto executions = [&](Agreement of) { return sum.executions.at(static_cast<std::size_t>(of)); };
    const std::uint64_t all = std::accumulate(sum.places.begin(), sum.places.end(), std::uint64_t{0});
    const std::uint64_t executed = std::accumulate(sum.executions.begin(), sum.executions.end(), std::uint64_t{0});
    table.rows.push_back({std::uint64_t{sum.pipeline}, std::uint64_t{sum.shader}, std::string(to_string(shader.stage)),
                          shader.name, std::string(sum.subject), all, places(Agreement::Proven),
                          places(Agreement::Observed), places(Agreement::Divergent), places(Agreement::NotExecuted),
                          places(Agreement::NotCompared), share(places(Agreement::Proven), all),
                          share(places(Agreement::Observed), all), share(places(Agreement::Divergent), all), executed,
                          share(executions(Agreement::Proven), executed),
                          share(executions(Agreement::Observed), executed),
                          share(executions(Agreement::Divergent), executed), share(sum.uniform, sum.compared)});
  }
  return table;
}

Table instruction_table(const trace::Profile& trace, const std::vector<profile::InstructionProfile>& rows,
                        bool branches) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"function_name", "function"},
                   {"block", "block", {}, 0, true},
                   {"label", "label"},
                   {"instruction", "instruction"},
                   {"kind", "kind"},
                   {"subject", branches ? "decides on" : "loads"},
                   {"lanes", "lanes"},
                   {"groups", "groups"},
                   {"uniform", "uniform", {}, 0, true},
                   {"uniform_share", "uniform", Show::Percent, 1},
                   {"agreement", branches ? "condition" : "value"}};
  if (!branches) {
    table.columns.push_back({"uniform_address", "uniform address", {}, 0, true});
    table.columns.push_back({"uniform_address_share", "uniform address", Show::Percent, 1});
    table.columns.push_back({"address_agreement", "address"});
  }
  for (const profile::InstructionProfile& row : rows) {
    const auto count = [](const profile::AgreementOf& of) { return of.uniform ? Cell{*of.uniform} : Cell{}; };
    const auto part = [&](const profile::AgreementOf& of) {
      return of.uniform ? share(*of.uniform, row.groups) : Cell{};
    };
    std::vector<Cell> cells = {std::uint64_t{row.pipeline},
                               std::uint64_t{row.shader},
                               trace.shaders[row.shader].name,
                               std::uint64_t{row.function},
                               row.function_name,
                               std::uint64_t{row.block},
                               fmt::format("%{}", row.label),
                               std::uint64_t{row.instruction},
                               row.kind,
                               row.name,
                               row.lanes,
                               row.groups,
                               count(row.value),
                               part(row.value),
                               std::string(to_string(row.value.agreement))};
    if (!branches) {
      cells.insert(cells.end(), {count(row.address), part(row.address), std::string(to_string(row.address.agreement))});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace rayreplay::report
