#include "app/report/provenance.hpp"

#include <nlohmann/json.hpp>

namespace rayreplay::report {
namespace {

constexpr const char* kDevice = "CPU";

}  // namespace

nlohmann::ordered_json provenance_json(const std::string& schema, const std::string& trace_file,
                                       const trace::Trace& trace) {
  return {{"schema", schema},
          {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
          {"device", kDevice},
          {"trace",
           {{"file", trace_file},
            {"hash", trace.hash},
            {"application", trace.header.application},
            {"device", trace.header.device},
            {"not_captured", trace.header.not_captured}}}};
}

NamedCells provenance_cells(const trace::Trace& trace) {
  return {
      {"trace_hash", trace.hash}, {"tool_version", std::string(RAYREPLAY_VERSION)}, {"device", std::string(kDevice)}};
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
