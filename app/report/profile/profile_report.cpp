#include "app/report/profile/profile_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/report/context/provenance.hpp"
#include "app/report/page/page.hpp"
#include "app/report/profile/access_charts.hpp"
#include "app/report/profile/agreement_table.hpp"
#include "app/report/profile/block_histogram.hpp"
#include "app/report/profile/path_table.hpp"
#include "app/report/profile/pixel_instructions.hpp"
#include "app/report/profile/profile_page.hpp"
#include "app/report/profile/profile_table.hpp"
#include "app/report/profile/value_table.hpp"
#include "app/report/shaders/trace_rows.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"

namespace rayreplay::report {
namespace {

constexpr std::array<std::string_view, 18> kProfileFiles = {
    "index.html", "profile.json",  "shaders.csv",    "blocks.csv",   "classes.csv",   "levels.csv",
    "paths.csv",  "histogram.csv", "uniformity.csv", "branches.csv", "loads.csv",     "values.csv",
    "pixels.csv", "memory.csv",    "lines.csv",      "images.csv",   "registers.csv", "uniform-values.csv"};

bool is_profile_file(std::string_view name) {
  return std::ranges::find(kProfileFiles, name) != kProfileFiles.end() || is_instruction_map(name);
}

output::Table memory_table(const ProfileContext& context) {
  return access_table(context.trace.shaders, context.trace.access_sites, context.accesses);
}

/// The JSON of the report: with provenance, blocks and what the page shows beside.
nlohmann::ordered_json report_json(const ProfileContext& context, const ProfileDetails& details) {
  nlohmann::ordered_json document = profile_json(context, true);
  const trace::Header& header = context.trace.header;
  document["tool"] = {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}};
  document["trace"] = {{"file", context.file},
                       {"hash", context.trace.hash},
                       {"application", header.application},
                       {"device", header.device},
                       {"not_captured", header.not_captured}};
  document["classes"] = to_json(class_table(details.rows, details.mixes));
  document["levels"] = to_json(level_table(details.rows, details.mixes));
  for (const bool branches : {true, false}) {
    const auto& rows = branches ? context.agreement.branches : context.agreement.loads;
    if (!rows.empty()) {
      document[branches ? "branches" : "loads"] = to_json(instruction_table(context.trace, rows, branches));
    }
  }
  if (!context.values.empty()) {
    for (const bool uniform : {false, true}) {
      document[uniform ? "uniform_values" : "values"] =
          to_json(value_table(context.trace, context.values, context.top_values, uniform));
    }
  }
  if (context.has_paths()) {
    document["pixels"] = to_json(pixel_table(context.pixels));
  }
  if (context.has_accesses()) {
    document["memory"] = to_json(memory_table(context));
    document["lines"] = to_json(line_table(context.trace.access_sites, context.accesses));
    document["images"] = to_json(context.images);
    document["image_layout"] = context.image_layout;
  }
  document["registers"] = to_json(register_table(context.trace.shaders, context.registers.marks));
  document["occupancy"] = {{"machine", context.machine.name}, {"warp_size", context.lanes}};
  return document;
}

}  // namespace

nlohmann::ordered_json profile_json(const ProfileContext& context, bool blocks) {
  nlohmann::ordered_json document = {{"schema", "rayreplay.profile/1"},
                                     {"file", context.file},
                                     {"warp_size", context.trace.header.warp_size},
                                     {"shaders", to_json(profile_shader_table(context.trace, context.shaders))}};
  if (blocks) {
    document["blocks"] = to_json(profile_block_table(context.trace, context.shaders));
  }
  if (context.has_agreement()) {
    document["uniformity"] = to_json(agreement_table(context.trace, context.agreement));
  }
  document["notes"] = context.accesses.notes;
  return document;
}

ProfileDetails profile_details(const ProfileContext& context) {
  ProfileDetails details;
  details.rows = rows_of_trace(context.trace.shaders, 0);
  details.executions = executions_by_shader(context.trace, std::nullopt, context.file);
  details.mixes = shader_mixes(details.rows, details.executions);
  details.measured = measured_by_shader(context.agreement, std::nullopt);
  return details;
}

output::FolderKind profile_folder() {
  return {"index.html", kGeneratorMark, is_profile_file};
}

void write_profile_report(const std::filesystem::path& path, bool force, const ProfileContext& context) {
  output::OutputFolder folder(path, force, profile_folder());
  const ProfileDetails details = profile_details(context);
  const auto write = [&folder](const std::string& name, std::string_view bytes) {
    write_file(folder.temporary_path() / name, bytes, false);
  };
  const NamedCells origin = {{"trace_hash", context.trace.hash}, {"tool_version", std::string(RAYREPLAY_VERSION)}};
  const auto write_csv = [&](const std::string& name, output::Table table) {
    write(name, output::to_csv(with_cells(std::move(table), origin)));
  };
  write("profile.json", json_text(report_json(context, details), 2) + "\n");
  if (context.has_blocks()) {
    write_csv("shaders.csv", profile_shader_table(context.trace, context.shaders));
    write_csv("blocks.csv", profile_block_table(context.trace, context.shaders));
    write_csv("classes.csv", class_table(details.rows, details.mixes));
    write_csv("levels.csv", level_table(details.rows, details.mixes));
    if (const auto ranges = block_histogram(context, details); !ranges.empty()) {
      write_csv("histogram.csv", histogram_table(ranges));
    }
  }
  if (context.has_agreement()) {
    write_csv("uniformity.csv", agreement_table(context.trace, context.agreement));
  }
  if (!context.agreement.branches.empty()) {
    write_csv("branches.csv", instruction_table(context.trace, context.agreement.branches, true));
  }
  if (!context.agreement.loads.empty()) {
    write_csv("loads.csv", instruction_table(context.trace, context.agreement.loads, false));
  }
  if (context.has_paths()) {
    write_csv("paths.csv", path_table(context.trace, context.paths));
    write_csv("pixels.csv", pixel_table(context.pixels));
  }
  if (context.has_accesses()) {
    write_csv("memory.csv", memory_table(context));
    write_csv("lines.csv", line_table(context.trace.access_sites, context.accesses));
    write_csv("images.csv", context.images);
  }
  write_csv("registers.csv", register_table(context.trace.shaders, context.registers.marks));
  if (!context.values.empty()) {
    write_csv("values.csv", value_table(context.trace, context.values, context.top_values, false));
    write_csv("uniform-values.csv", value_table(context.trace, context.values, context.top_values, true));
  }
  for (const Picture& map : context.maps) {
    write(map.file, map.png);
  }
  write("index.html", profile_page(context, details));
  folder.commit();
}

}  // namespace rayreplay::report
