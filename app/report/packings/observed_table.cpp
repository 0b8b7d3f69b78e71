#include "app/report/packings/observed_table.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/models/path_cells.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "capture/profile/shader_profile.hpp"

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

/// The shaders whose calls are events of the kind; ray generation's trace calls are the first kind alone.
std::optional<trace::ShaderStage> stage_of(trace::EventKind kind) {
  switch (kind) {
    case trace::EventKind::Begin:
      return trace::ShaderStage::RayGeneration;
    case trace::EventKind::Intersection:
      return trace::ShaderStage::Intersection;
    case trace::EventKind::AnyHit:
      return trace::ShaderStage::AnyHit;
    case trace::EventKind::ClosestHit:
      return trace::ShaderStage::ClosestHit;
    case trace::EventKind::Miss:
      return trace::ShaderStage::Miss;
    case trace::EventKind::Callable:
      return trace::ShaderStage::Callable;
    default:
      return std::nullopt;
  }
}

}  // namespace

InstructionEfficiency instruction_efficiency(const trace::Trace& trace, const trace::Launch& launch) {
  InstructionEfficiency result;
  const std::uint32_t warp_size = trace.header.warp_size;
  if (const auto paths = profile::event_paths(trace, launch)) {
    result.paths = profile::tally_groups(*paths, trace.shaders, launch);
  }
  if (trace.block_counts.size() == 0) {
    return result;
  }
  const auto shaders =
      profile::of_launch(profile::shader_profiles({trace.shaders, trace.block_counts, warp_size}, "the trace"), launch);
  result.all = profile::instruction_efficiency(shaders, warp_size);
  for (std::size_t stage = 0; stage < trace::kRayTracingStages; ++stage) {
    std::vector<profile::ShaderProfile> of_stage;
    std::ranges::copy_if(shaders, std::back_inserter(of_stage), [&](const profile::ShaderProfile& one) {
      return static_cast<std::size_t>(trace.shaders[one.shader].stage) == stage;
    });
    result.by_stage.at(stage) = profile::instruction_efficiency(of_stage, warp_size);
  }
  return result;
}

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

output::Table observed_table(const simt::Observed& observed, std::uint32_t warp_size,
                             const InstructionEfficiency& inside) {
  output::Table table;
  table.columns = {{"scope", "scope"},
                   {"name", "name"},
                   {"lanes", "lanes"},
                   {"groups", "groups"},
                   {"efficiency", "SIMT efficiency", output::Show::Percent},
                   {"united_groups", "united"},
                   {"united_efficiency", "SIMT efficiency", output::Show::Percent}};
  if (inside.all) {
    table.columns.push_back({"instruction_efficiency", "by instruction", output::Show::Percent});
  }
  const bool has_paths = inside.paths.all().efficiency(warp_size).has_value();
  std::vector<profile::PathTally> by_row;
  const auto add = [&](const std::string& scope, const std::string& name, const simt::ObservedTally& fragments,
                       const simt::ObservedTally& united, std::optional<double> by_instruction,
                       const profile::PathTally& by_path) {
    if (fragments.groups != 0) {
      table.rows.push_back({scope, name, fragments.lanes, fragments.groups, fragments.efficiency(warp_size),
                            united.groups, united.efficiency(warp_size)});
      if (inside.all) {
        table.rows.back().push_back(by_instruction ? output::Cell(*by_instruction) : output::Cell());
      }
      by_row.push_back(by_path);
    }
  };
  add("launch", "all", observed.fragments, observed.united, inside.all, inside.paths.all());
  for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
    const auto kind = static_cast<trace::EventKind>(i);
    const auto stage = stage_of(kind);
    add("stage", trace::to_string(kind), observed.fragments_by_kind.at(i), observed.united_by_kind.at(i),
        stage ? inside.by_stage.at(static_cast<std::size_t>(*stage)) : std::nullopt, inside.paths.of_kind(kind));
  }
  if (has_paths) {
    const std::vector<output::Column> columns = path_columns(by_row);
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    for (std::size_t i = 0; i < by_row.size(); ++i) {
      const std::vector<output::Cell> cells = path_cells(by_row[i], warp_size);
      table.rows[i].insert(table.rows[i].end(), cells.begin(), cells.end());
    }
  }
  return table;
}

std::string observed_text(const trace::Trace& trace, const trace::Launch& launch) {
  const simt::Observed observed = simt::observe(launch);
  if (observed.empty()) {
    return "";
  }
  const InstructionEfficiency inside = instruction_efficiency(trace, launch);
  return fmt::format(
      "\nobserved on {} (warp size {}; united: fragments of one call of a warp put together{}{})\n{}{}",
      text::printable(trace.header.device), trace.header.warp_size,
      inside.all ? "; by instruction: from counts of basic blocks, of all captured launches" : "",
      inside.paths.all().efficiency(trace.header.warp_size)
          ? "; by path: if the lanes of a group meet again at every block"
          : "",
      threads_are_missing(trace, launch)
          ? "biased: not all threads were recorded. A group is counted, with all its lanes, if at least one of its "
            "threads was\nrecorded: large groups are seen more often than small ones.\n"
          : "",
      output::to_text(observed_table(observed, trace.header.warp_size, inside)));
}

nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch) {
  const simt::Observed observed = simt::observe(launch);
  if (observed.empty()) {
    return nullptr;
  }
  return {{"device", trace.header.device},
          {"warp_size", trace.header.warp_size},
          {"threads_missing", threads_are_missing(trace, launch)},
          {"rows", to_json(observed_table(observed, trace.header.warp_size, instruction_efficiency(trace, launch)))}};
}

}  // namespace rayreplay::report
