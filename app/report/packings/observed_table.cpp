#include "app/report/packings/observed_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using Json = nlohmann::ordered_json;

/// The part of the configuration at `place`; null if missing.
Json part_of(const std::optional<Json>& configuration, const char* place) {
  const Json::json_pointer pointer(place);
  return configuration && configuration->is_object() && configuration->contains(pointer) ? configuration->at(pointer)
                                                                                         : Json();
}

/// True if the capture's options leave threads out of any launch.
bool is_sampled(const std::optional<Json>& configuration) {
  const auto differs = [given = part_of(configuration, "/capture/options")](const char* name, const char* whole) {
    const auto found = given.is_object() ? given.find(name) : given.end();
    return found != given.end() && found->is_string() && *found != whole;
  };
  return differs("window", "") || differs("every", "1");
}

}  // namespace

bool threads_are_missing(const trace::Trace& trace, const trace::Launch& launch) {
  if (launch.dropped_events != 0) {
    return true;
  }
  const std::optional<Json> configuration = parse_json(trace.header.configuration);
  // The capture's notes: indices of launches. Older traces do not have them.
  if (const Json missing = part_of(configuration, "/capture/threads_missing"); missing.is_array()) {
    const auto same = [&launch](const trace::Launch& other) { return &other == &launch; };
    const auto index = std::ranges::find_if(trace.launches, same) - trace.launches.begin();
    return std::ranges::find(missing, Json(index)) != missing.end();
  }
  const auto& lines = trace.header.not_captured;
  return is_sampled(configuration) || std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
           return line.find("threads not recorded: ") != std::string::npos ||
                  line.find("threads were not recorded") != std::string::npos;  // wording of traces until 2026-11
         });
}

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
  return fmt::format(
      "\nobserved on {} (warp size {}; united: fragments of one call of a warp put together)\n{}{}",
      text::printable(trace.header.device), trace.header.warp_size,
      threads_are_missing(trace, launch)
          ? "biased: not all threads were recorded. A group is counted, with all its lanes, if at least one of its "
            "threads was\nrecorded: large groups are seen more often than small ones.\n"
          : "",
      output::to_text(observed_table(observed, trace.header.warp_size)));
}

nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch) {
  const simt::Observed observed = simt::observe(launch);
  if (observed.empty()) {
    return nullptr;
  }
  return {{"device", trace.header.device},
          {"warp_size", trace.header.warp_size},
          {"threads_missing", threads_are_missing(trace, launch)},
          {"rows", to_json(observed_table(observed, trace.header.warp_size))}};
}

}  // namespace rayreplay::report
