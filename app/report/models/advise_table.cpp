#include "app/report/models/advise_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;

std::vector<Cell> row_of(std::uint64_t rank, const std::string& kind, const experiment::Advice& advice) {
  Cell place;
  if (rank > 0) {
    place = rank;
  }
  return {place,
          kind,
          std::uint64_t{advice.bits},
          advice.efficiency,
          advice.weighted_efficiency,
          advice.gain,
          advice.warp_events,
          advice.name,
          advice.formula};
}

}  // namespace

output::Table advise_table(const experiment::AdviseResult& result, std::size_t rows) {
  const bool weighted = !result.configuration.costs.empty() || result.by_path;
  output::Table table;
  table.columns = {{"rank", "rank"},
                   {"kind", "kind"},
                   {"bits", "bits"},
                   {"efficiency", "SIMT efficiency", Show::Percent},
                   {"weighted_efficiency", "weighted", Show::Percent, 2, !weighted},
                   {"gain", "gain", Show::Change},
                   {"warp_events", "warp events"},
                   {"name", "name"},
                   {"formula", "formula"}};
  const std::size_t shown = rows == 0 ? result.ranking.size() : std::min(rows, result.ranking.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.rows.push_back(row_of(i + 1, "hint", result.ranking[i]));
  }
  table.rows.push_back(row_of(0, "shader id alone", result.baseline));
  table.rows.push_back(row_of(0, "plain", result.plain));
  return table;
}

std::string advise_notes(const experiment::AdviseResult& result) {
  std::string notes =
      fmt::format("\n{} evaluated under {}; {} rejected: values that are no numbers, too large, or all equal.\n",
                  counted(result.evaluated, "hint"), text::printable(result.model), result.rejected);
  notes +=
      result.by_path
          ? "Efficiency counts calls at the issue slots of their paths, so divergence inside a shader is in it; caches "
            "are not.\n"
      : result.configuration.costs.empty()
          ? "Efficiency counts shader calls alike: what shaders cost is not in it (--cost), nor is divergence inside "
            "a shader, nor are caches.\n"
          : "Efficiency counts shader calls at their costs: divergence inside a shader and caches are not in it.\n";
  if (!result.ranking.empty() && result.ranking.front().gain <= 0) {
    notes += "No hint does better than shader id alone.\n";
  }
  return notes;
}

}  // namespace rayreplay::report
