// What `rayreplay whatif --models` prints and writes: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.models/1 (docs/surfaces.md): the full resolved configuration, every key of
// the machine, every call's cost with its origin, hints, trace hash, tool version and device beside the rows. The
// folder holds index.html (no scripts, nothing external, light and dark), models.json, models.csv, stages.csv,
// config.toml, machine.toml and a picture for each model of which SM ran which pixel. The same result gives the same
// bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/output_folder.hpp"
#include "app/pictures/colormap.hpp"
#include "app/report/context.hpp"
#include "app/report/sm_map.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

struct ModelsContext {
  const Context& context;
  const experiment::CompareResult& result;
  const experiment::Settings& settings;  ///< that the result depends on, resolved
  const scheduler::HintSources& hints;
};

[[nodiscard]] std::string models_text(const ModelsContext& models);
[[nodiscard]] nlohmann::ordered_json models_json(const ModelsContext& models);
[[nodiscard]] std::string models_csv(const ModelsContext& models);
/// The base experiment as TOML; the models that are compared in a comment.
[[nodiscard]] std::string models_toml(const experiment::Settings& settings, const std::vector<std::string>& models);

struct ModelsReportOptions {
  std::filesystem::path folder;
  bool force = false;
  std::string image_png;  ///< bytes of the rendered picture; "" for none
  pictures::Colormap colormap = pictures::Colormap::Viridis;
};

/// By what such a folder is known.
[[nodiscard]] output::FolderKind models_folder();
/// `maps`: of each row, in order; without values for rows that have none.
void write_models_report(const ModelsReportOptions& options, const ModelsContext& models,
                         const std::vector<SmMap>& maps);

}  // namespace rayreplay::report
