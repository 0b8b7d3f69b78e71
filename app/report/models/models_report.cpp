#include "app/report/models/models_report.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/report/charts/heatmap.hpp"
#include "app/report/context/provenance.hpp"
#include "app/report/models/models_notes.hpp"
#include "app/report/models/models_page.hpp"
#include "app/report/models/models_table.hpp"
#include "app/report/models/path_cells.hpp"
#include "app/report/models/verdict.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::report {
namespace {

using experiment::CompareResult;
using experiment::CompareRow;

constexpr const char* kSchema = "rayreplay.models/1";
constexpr std::array<std::string_view, 8> kFiles = {"index.html", "models.json", "models.csv",   "verdict.csv",
                                                    "stages.csv", "config.toml", "machine.toml", "rendered.png"};
constexpr std::string_view kMapStart = "sm-";
constexpr std::string_view kPictureEnd = ".png";

bool is_models_file(std::string_view name) {
  if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end()) {
    return true;
  }
  if (name.size() <= kMapStart.size() + kPictureEnd.size() || !name.starts_with(kMapStart) ||
      !name.ends_with(kPictureEnd)) {
    return false;
  }
  name.remove_prefix(kMapStart.size());
  name.remove_suffix(kPictureEnd.size());
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return c == '-' || std::isalnum(c) != 0; });
}

std::uint64_t registers_of(const ModelsContext& models) {
  return static_cast<std::uint64_t>(models.settings.integer("registers_per_thread"));
}

std::string machine_line(const ModelsContext& models) {
  const machine::Machine& machine = models.result.machine;
  return fmt::format("{}: {}, {:.0f} MHz, {} of {} of an SM resident at {} a thread", machine.name,
                     counted(machine.sms, "SM"), machine.clock_mhz, models.result.resident_warps,
                     counted(machine.resident_warps, "warp"), counted(registers_of(models), "register"));
}

nlohmann::ordered_json hints_json(const scheduler::HintSources& hints) {
  constexpr std::array kOrigins = {"captured", "expression", "file"};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, hint] : hints) {
    list.push_back({{"name", name},
                    {"bits", hint.bits},
                    {"origin", kOrigins.at(static_cast<std::size_t>(hint.origin))},
                    {"text", hint.text}});
  }
  return list;
}

std::string sm_picture(const SmMap& map, const std::string& model, std::uint32_t sms, pictures::Colormap colormap) {
  pictures::HeatMap heat = heat_map(map.last, colormap);
  heat.title = "SM of each pixel: " + model;
  heat.note = fmt::format("{:.1f} % of the threads ran on more than one SM", map.changed_percent());
  heat.unit = fmt::format("SM (number, of {})", sms);
  heat.high = sms > 1 ? sms - 1 : 1;
  return encode_png(render(heat));
}

/// "NAME:BITS=FILE;…" with paths relative to `folder`.
std::string seen_from(const std::filesystem::path& folder, std::string_view files) {
  std::string result;
  while (!files.empty()) {
    const auto end = files.find(';');
    const std::string item(files.substr(0, end));
    files = end == std::string_view::npos ? std::string_view() : files.substr(end + 1);
    const auto equals = item.find('=') + 1;
    std::error_code error;
    const std::filesystem::path path = item.substr(equals);
    const std::filesystem::path there = path.is_absolute() ? path : std::filesystem::proximate(path, folder, error);
    result.append(result.empty() ? "" : ";").append(item, 0, equals).append((error ? path : there).string());
  }
  return result;
}

NamedCells csv_context(const ModelsContext& models) {
  const experiment::Resolved& configuration = models.result.configuration;
  NamedCells cells = provenance_cells(models.context.trace, models.context.stages());
  cells.insert(cells.end(), {{"launch", std::uint64_t{configuration.launch}},
                             {"warp_size", std::uint64_t{configuration.warp_size}},
                             {"order", configuration.order},
                             {"policy", std::string(simt::to_string(configuration.policy))},
                             {"packing", models.settings.text("packing")},
                             {"machine", models.result.machine.name},
                             {"registers_per_thread", registers_of(models)}});
  return cells;
}

}  // namespace

std::string models_toml(const experiment::Settings& settings, const std::vector<std::string>& models) {
  return command_comment({{"--models", fmt::format("{}", fmt::join(models, ","))}}) +
         experiment::to_toml(settings, false);
}

std::string models_text(const ModelsContext& models) {
  const CompareResult& result = models.result;
  const std::string answer = model_answer(result);
  std::string text = answer + (answer.empty() ? "" : "\n") + context_text(models.context);
  if (models.settings.text("packing") != "identity") {
    text += fmt::format("{:<9}{}\n", "packed", text::printable(models.settings.text("packing")));
  }
  text += fmt::format("{:<9}{}\n", "machine", text::printable(machine_line(models)));
  text += fmt::format("{:<9}{}\n\n", "cost", hit_cost_text(result));
  text += output::to_text(short_models_table(result));
  text += path_note(!result.rows.front().paths.empty());
  if (const std::string note = few_warps_note(result); !note.empty()) {
    text += "\nnote: " + text::printable(note) + ".\n";
  }
  if (const output::Table verdicts = verdict_table(result, true); !verdicts.rows.empty()) {
    text += "\n" + output::to_text(verdicts);
  }
  text += "\n" + output::to_text(quantity_table(result));
  text += "\n" + output::to_text(shown_costs(result, models.context.trace));
  text += "\n" + output::to_text(efficiency_by_stage(result));
  text += "\n" + output::to_text(efficiency_by_bounce(result));
  return text;
}

nlohmann::ordered_json models_json(const ModelsContext& models) {
  const CompareResult& result = models.result;
  nlohmann::ordered_json document = context_json(models.context, kSchema);
  nlohmann::ordered_json& resolved = document["configuration"];
  resolved["models"] = nlohmann::ordered_json::array();
  for (const CompareRow& row : result.rows) {
    resolved["models"].push_back(row.model);
  }
  resolved["hints"] = hints_json(models.hints);
  document["machine"] = machine_json(result.machine);
  document["resident_warps"] = result.resident_warps;
  document["mean_hit_cost"] = result.mean_hit_cost;
  document["costs"] = to_json(cost_rows(result, models.context.trace));
  document["quantities"] = to_json(quantity_rows(result));
  document["rows"] = to_json(models_table(result));
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    document["rows"][i]["verdict"] = verdict_json(result.rows[i].verdict);
  }
  document["stages"] = to_json(stage_rows(result));
  document["lanes"] = to_json(lane_rows(result));
  document["response"] = to_json(response_rows(result));
  return document;
}

output::Table models_rows(const ModelsContext& models) {
  return with_cells(with_verdicts(models_table(models.result), models.result), csv_context(models));
}

output::FolderKind models_folder() {
  return {"index.html", kGeneratorMark, is_models_file};
}

void write_models_report(const ModelsReportOptions& options, const ModelsContext& models,
                         const std::vector<SmMap>& maps) {
  output::OutputFolder folder(options.folder, options.force, models_folder());
  const auto write = [&folder](const std::string& name, std::string_view bytes) {
    write_file(folder.temporary_path() / name, bytes, false);
  };
  const CompareResult& result = models.result;
  experiment::Settings here = models.settings;
  const std::vector<std::string> shipped = machine::shipped_machines();
  if (std::find(shipped.begin(), shipped.end(), here.text(experiment::kMachineName)) == shipped.end()) {
    here.set(experiment::kMachineName, std::string("./machine.toml"), "");  // the copy beside the page
  }
  here.set("scheduler.hint_files", seen_from(options.folder, here.text("scheduler.hint_files")), "");
  std::vector<std::string> compared;
  std::ranges::transform(result.rows, std::back_inserter(compared), &CompareRow::model);
  ModelsPage page{models, maps, std::vector<std::string>(maps.size()), "", models_toml(here, compared)};
  std::set<std::string> used;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    // A launch of one row has no useful picture.
    if (maps[i].last.height < 2) {
      continue;
    }
    const std::string word = file_word(result.rows[i].model);
    std::string name = word;
    for (int next = 2; !used.insert(name).second; ++next) {
      name = fmt::format("{}-{}", word, next);
    }
    page.map_files[i] = fmt::format("{}{}{}", kMapStart, name, kPictureEnd);
    write(page.map_files[i],
          sm_picture(maps[i], short_spec(result.rows[i].model), result.machine.sms, options.colormap));
  }
  if (!options.image_png.empty()) {
    page.image_file = "rendered.png";
    write(page.image_file, options.image_png);
  }
  write("config.toml", page.configuration_toml);
  write("machine.toml", machine::to_toml_with_origins(result.machine));
  write("models.json", json_text(models_json(models), 2) + "\n");
  write("models.csv", output::to_csv(models_rows(models)));
  write("verdict.csv", output::to_csv(with_cells(verdict_rows(result), csv_context(models))));
  write("stages.csv", output::to_csv(with_cells(stage_rows(result), csv_context(models))));
  write("index.html", to_html(page));
  folder.commit();
}

}  // namespace rayreplay::report
