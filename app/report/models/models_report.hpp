// Output of `rayreplay whatif --models`: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.models/1 (docs/surfaces.md): the full resolved configuration, every key of
// the machine, every call's cost and every number of the time model with its origin, hints, trace hash, tool version
// and device, and the rows. The folder has index.html (no scripts, nothing external, light and dark), models.json,
// models.csv, verdict.csv, stages.csv, config.toml, machine.toml and, for each model, a map of the SMs over pixels. The
// same result gives the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/charts/colormap.hpp"
#include "app/report/context/context.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/models/sm_map.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

struct ModelsContext {
  const Context& context;
  const experiment::CompareResult& result;
  const experiment::Settings& settings;  ///< all that affect the result, resolved
  const scheduler::HintSources& hints;
};

[[nodiscard]] std::string models_text(const ModelsContext& models);
[[nodiscard]] nlohmann::ordered_json models_json(const ModelsContext& models);
/// Of the CSV: `models_table` with its provenance.
[[nodiscard]] output::Table models_rows(const ModelsContext& models);
/// The base experiment as TOML; the compared models in a comment.
[[nodiscard]] std::string models_toml(const experiment::Settings& settings, const std::vector<std::string>& models);

struct ModelsReportOptions {
  std::filesystem::path folder;
  bool force = false;
  std::string image_png;  ///< bytes of the rendered picture; "" for none
  pictures::Colormap colormap = pictures::Colormap::Viridis;
};

/// Marks that identify such a folder.
[[nodiscard]] output::FolderKind models_folder();
/// `maps`: by row, in order; empty values for rows without a map.
void write_models_report(const ModelsReportOptions& options, const ModelsContext& models,
                         const std::vector<SmMap>& maps);

}  // namespace rayreplay::report
