#include "app/report/context/provenance.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rayreplay::report {
namespace {

constexpr const char* kDevice = "CPU";

}  // namespace

std::string device_summary(const Stages& stages) {
  std::vector<std::string> names;
  bool processor = stages.empty();
  for (const StageRecord& stage : stages) {
    if (stage.device == kDevice) {
      processor = true;
    } else if (std::find(names.begin(), names.end(), stage.device) == names.end()) {
      names.push_back(stage.device);
    }
  }
  if (processor) {
    names.emplace_back(kDevice);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string stages_text(const Stages& stages) {
  std::string text;
  for (const StageRecord& stage : stages) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", stage.stage, stage.device,
                        stage.reason.empty() ? "" : " (" + stage.reason + ")");
  }
  return text;
}

nlohmann::ordered_json stages_json(const Stages& stages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StageRecord& stage : stages) {
    list.push_back({{"stage", stage.stage}, {"device", stage.device}, {"runs", stage.runs}, {"reason", stage.reason}});
  }
  return list;
}

nlohmann::ordered_json provenance_json(const std::string& schema, const std::string& trace_file,
                                       const trace::Trace& trace, const Stages& stages) {
  return {{"schema", schema},
          {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
          {"device", device_summary(stages)},
          {"devices", stages_json(stages)},
          {"trace",
           {{"file", trace_file},
            {"hash", trace.hash},
            {"application", trace.header.application},
            {"device", trace.header.device},
            {"not_captured", trace.header.not_captured}}}};
}

nlohmann::ordered_json machine_json(const machine::Machine& machine) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  std::istringstream lines(machine::to_toml(machine));
  constexpr std::string_view kEquals = " = ";
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find(kEquals);
    object[line.substr(0, equals)] = parse_json(line.substr(equals + kEquals.size())).value();
  }
  return object;
}

NamedCells provenance_cells(const trace::Trace& trace, const Stages& stages) {
  return {{"trace_hash", trace.hash},
          {"tool_version", std::string(RAYREPLAY_VERSION)},
          {"device", device_summary(stages)},
          {"devices", stages_text(stages)}};
}

output::Table with_cells(output::Table table, const NamedCells& cells) {
  for (const auto& [key, cell] : cells) {
    table.columns.push_back({key, key, output::Show::Plain, 0, true});
    for (auto& row : table.rows) {
      row.push_back(cell);
    }
  }
  return table;
}

}  // namespace rayreplay::report
