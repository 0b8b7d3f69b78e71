#include "app/report/observed_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rayreplay::report {

output::Table observed_table(const simt::Observed& observed, std::uint32_t warp_size) {
  output::Table table;
  table.columns = {{"scope", "scope"},
                   {"name", "name"},
                   {"lanes", "lanes"},
                   {"groups", "groups"},
                   {"efficiency", "SIMT efficiency", output::Show::Percent},
                   {"united_groups", "united"},
                   {"united_efficiency", "SIMT efficiency", output::Show::Percent}};
  const auto add = [&](const std::string& scope, const std::string& name, const simt::ObservedTally& fragments,
                       const simt::ObservedTally& united) {
    if (fragments.groups != 0) {
      table.rows.push_back({scope, name, fragments.lanes, fragments.groups, fragments.efficiency(warp_size),
                            united.groups, united.efficiency(warp_size)});
    }
  };
  add("launch", "all", observed.fragments, observed.united);
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    add("stage", trace::to_string(static_cast<trace::EventKind>(kind)), observed.fragments_by_kind.at(kind),
        observed.united_by_kind.at(kind));
  }
  return table;
}

std::string observed_text(const trace::Trace& trace, const trace::Launch& launch) {
  const simt::Observed observed = simt::observe(launch);
  if (observed.empty()) {
    return "";
  }
  return fmt::format("\nobserved on {} (warp size {}; united: fragments of one call of a warp put together)\n{}",
                     trace.header.device, trace.header.warp_size,
                     output::to_text(observed_table(observed, trace.header.warp_size)));
}

nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch) {
  const simt::Observed observed = simt::observe(launch);
  if (observed.empty()) {
    return nullptr;
  }
  return {{"device", trace.header.device},
          {"warp_size", trace.header.warp_size},
          {"rows", to_json(observed_table(observed, trace.header.warp_size))}};
}

}  // namespace rayreplay::report
