#include "app/report/memory/memory_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/report/context/answers.hpp"
#include "app/report/context/provenance.hpp"
#include "app/report/memory/memory_table.hpp"
#include "app/report/models/verdict.hpp"
#include "app/report/page/page.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "sim/machine/time_shares.hpp"

namespace rayreplay::report {
namespace {

using experiment::MemoryResult;
using experiment::MemoryRow;

constexpr const char* kSchema = "rayreplay.memory/2";
constexpr const char* kImageFile = "rendered.png";
constexpr std::array<std::string_view, 7> kFiles = {"index.html",  "memory.json",  "memory.csv", "break-even.csv",
                                                    "config.toml", "machine.toml", kImageFile};

bool is_memory_file(std::string_view name) {
  return std::ranges::find(kFiles, name) != kFiles.end() || is_memory_picture(name);
}

std::string machine_line(const MemoryContext& memory) {
  const machine::Machine& machine = memory.result.machine;
  return fmt::format("{}: {}, {:.0f} MHz", machine.name, counted(machine.sms, "SM"), machine.clock_mhz);
}

NamedCells csv_context(const MemoryContext& memory) {
  const experiment::Resolved& configuration = memory.context.configuration;
  NamedCells cells = provenance_cells(memory.context.trace, memory.context.stages());
  cells.insert(cells.end(), {{"launch", std::uint64_t{configuration.launch}},
                             {"warp_size", std::uint64_t{configuration.warp_size}},
                             {"order", configuration.order},
                             {"machine", memory.result.machine.name}});
  return cells;
}

/// "36 memory times beside the rows' own were run for it": a note under the break-even.
std::string runs_note(const MemoryResult& result) {
  return fmt::format("{} beside the rows' own were run for it", counted(result.runs, "memory time"));
}

nlohmann::ordered_json moved_json(const MemoryResult& result, const MemoryRow& row) {
  const MemoryRow& baseline = result.rows.front();
  nlohmann::ordered_json moved = {{"parts", nlohmann::ordered_json::array()},
                                  {"kinds", nlohmann::ordered_json::array()}};
  if (row.bound) {
    return nullptr;
  }
  if (result.outputs.time) {
    for (const experiment::PartChange& change : experiment::part_changes(baseline.metrics, row.metrics)) {
      moved["parts"].push_back({{"part", machine::kTimePartNames[change.part]}, {"share", change.share}});
    }
  }
  for (const experiment::KindChange& change : experiment::kind_changes(baseline.metrics, row.metrics)) {
    moved["kinds"].push_back({{"kind", memory::to_string(change.kind)}, {"loads", change.loads}});
  }
  return moved;
}

pictures::BarPlot split_chart(const MemoryResult& result) {
  pictures::BarPlot chart{.title = "Where memory time goes",
                          .note = "The parts of a bar sum to the launch's memory time.",
                          .value_title = "time of all SMs, as milliseconds of the launch",
                          .stacked = true};
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    chart.series.push_back({machine::kTimePartNames[part], part, {}});
  }
  for (const MemoryRow& row : result.rows) {
    const auto time = row.metrics.find("time_milliseconds");
    if (time == row.metrics.end()) {
      continue;
    }
    chart.categories.push_back(variant_name(result, row));
    for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
      chart.series[part].values.push_back(time->second * row.metrics.at(experiment::part_metrics()[part]));
    }
  }
  return chart;
}

pictures::BarPlot stage_chart(const MemoryResult& result) {
  pictures::BarPlot chart{.title = "In which stage warps are",
                          .note = "Warp-cycles by stage of the pipeline, waits for its data included.",
                          .value_title = "warp-cycles (%)",
                          .stacked = true};
  for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
    chart.series.push_back({memory::kWorkStageNames[stage], stage, {}});
  }
  for (const MemoryRow& row : result.rows) {
    if (!row.metrics.contains("time_milliseconds")) {
      continue;
    }
    chart.categories.push_back(variant_name(result, row));
    for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
      chart.series[stage].values.push_back(100 * row.metrics.at(experiment::stage_metrics()[stage]));
    }
  }
  return chart;
}

Facts facts_of(const MemoryContext& memory) {
  const experiment::Resolved& resolved = memory.context.configuration;
  const trace::Launch& launch = memory.context.trace.launches[resolved.launch];
  Facts more = {{"warps", fmt::format("{}, order {}", counted(resolved.warp_size, "lane"), resolved.order)},
                {"machine", machine_line(memory)}};
  if (!memory.result.shader_notes.empty()) {
    more.emplace_back("shaders", fmt::format("{}", fmt::join(memory.result.shader_notes, "; ")));
  }
  return launch_facts(
      memory.context,
      fmt::format("{}: {} x {} x {}, {}, {}", resolved.launch, launch.size.width, launch.size.height, launch.size.depth,
                  counted(launch.size.threads(), "thread"), counted(launch.data.rays.size(), "ray")),
      more);
}

std::string to_html(const MemoryContext& memory, const std::vector<NamedHistory>& histories,
                    const std::vector<Picture>& maps, const std::string& configuration, bool has_image) {
  const MemoryResult& result = memory.result;
  PageData data;
  data["title"] = "What if: " + memory.context.trace_file;
  data["facts"] = page_facts(facts_of(memory));
  data["times"] = page_table(memory_time_table(result));
  data["traffic"] = page_table(memory_traffic_table(result));
  for (const std::string& sentence : memory_verdicts(result)) {
    data["verdicts"].push_back(sentence);
  }
  for (const std::string& sentence : moved_sentences(result)) {
    data["moved"].push_back(sentence);
  }
  if (const output::Table table = break_even_table(result); !table.rows.empty()) {
    data["break_even"] = page_table(table);
    data["runs"] = runs_note(result);
    for (const std::string& sentence : not_varied_sentences(result)) {
      data["not_varied"].push_back(sentence);
    }
  }
  if (const output::Table table = number_table(result); !table.rows.empty()) {
    data["numbers"] = page_table(table);
  }
  std::vector<pictures::Chart> charts;
  if (result.outputs.time) {
    charts.emplace_back(split_chart(result));
    charts.emplace_back(stage_chart(result));
  }
  for (pictures::Chart& chart : history_charts(histories, result.machine)) {
    charts.push_back(std::move(chart));
  }
  if (!histories.empty()) {
    std::vector<std::string> names;
    for (const NamedHistory& history : histories) {
      names.push_back(history.name);
    }
    data["over_time"] = fmt::format("{}", fmt::join(names, " and "));
  }
  data["charts"] = page_charts(charts);
  data["maps"] = page_figures(maps);
  if (has_image) {
    data["image"] = page_figures({{kImageFile, "What the launch rendered."}});
  }
  data["command"] = "whatif";
  data["configuration"] = configuration;
  data["machine"] = machine::to_toml_with_origins(result.machine);
  return make_page("memory", std::move(data));
}

}  // namespace

std::string memory_text(const MemoryContext& memory) {
  const MemoryResult& result = memory.result;
  std::string text;
  for (const std::string& sentence : memory_verdicts(result)) {
    text += answer_line(sentence);
  }
  text += (text.empty() ? "" : "\n") + context_text(memory.context);
  text += fmt::format("{:<9}{}\n", "machine", text::printable(machine_line(memory)));
  for (const std::string& note : result.shader_notes) {
    text += fmt::format("{:<9}{}\n", "shaders", note);
  }
  text += "\n" + output::to_text(memory_time_table(result)) + "\n" + output::to_text(memory_traffic_table(result));
  if (const std::vector<std::string> moved = moved_sentences(result); !moved.empty()) {
    text += "\n";
    for (const std::string& sentence : moved) {
      text += fmt::format("{:<9}{}\n", "moved", sentence);
    }
  }
  if (const output::Table table = break_even_table(result); !table.rows.empty()) {
    text += "\n" + output::to_text(table) + "\nnote: " + runs_note(result) + ".\n";
    for (const auto& notes : {result.notes, not_varied_sentences(result)}) {
      for (const std::string& note : notes) {
        text += "note: " + note + ".\n";
      }
    }
  }
  if (const output::Table table = number_table(result); !table.rows.empty()) {
    text += "\n" + output::to_text(table);
  }
  return text;
}

nlohmann::ordered_json memory_json(const MemoryContext& memory) {
  const MemoryResult& result = memory.result;
  nlohmann::ordered_json document = context_json(memory.context, kSchema);
  document["configuration"]["shader_notes"] = result.shader_notes;
  document["machine"] = machine_json(result.machine);
  document["rays"] = result.rays;
  document["rows"] = to_json(memory_rows(result));
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    nlohmann::ordered_json& verdict = document["rows"][i]["verdict"] = verdict_json(result.rows[i].verdict);
    if (!verdict.is_null()) {
      verdict["not_varied"] = result.rows[i].not_varied;
    }
    document["rows"][i]["moved"] = moved_json(result, result.rows[i]);
  }
  document["numbers"] = output::to_json(number_rows(result));
  document["break_even"] = break_even_json(result);
  document["memory_times"] = result.runs;
  return document;
}

output::Table memory_csv(const MemoryContext& memory) {
  return with_cells(memory_rows(memory.result), csv_context(memory));
}

std::string memory_toml(const experiment::Settings& settings,
                        const std::vector<std::pair<std::string, std::string>>& flags) {
  return command_comment(flags) + experiment::to_toml(settings, false);
}

output::FolderKind memory_folder() {
  return {"index.html", kGeneratorMark, is_memory_file};
}

void write_memory_report(const MemoryReportOptions& options, const MemoryContext& memory,
                         const std::vector<NamedHistory>& histories, const std::vector<RowMap>& maps) {
  output::OutputFolder folder(options.folder, options.force, memory_folder());
  const auto write = [&folder](const std::string& name, std::string_view bytes) {
    write_file(folder.temporary_path() / name, bytes, false);
  };
  const std::string configuration = memory_toml(memory.settings, memory.flags);
  write("config.toml", configuration);
  write("machine.toml", machine::to_toml_with_origins(memory.result.machine));
  write("memory.json", json_text(memory_json(memory), 2) + "\n");
  write("memory.csv", output::to_csv(memory_csv(memory)));
  write("break-even.csv", output::to_csv(with_cells(break_even_rows(memory.result), csv_context(memory))));
  const std::vector<Picture> pictures = memory_pictures(maps, options.colormap);
  for (const Picture& picture : pictures) {
    write(picture.file, picture.png);
  }
  if (!options.image_png.empty()) {
    write(kImageFile, options.image_png);
  }
  write("index.html", to_html(memory, histories, pictures, configuration, !options.image_png.empty()));
  folder.commit();
}

}  // namespace rayreplay::report
