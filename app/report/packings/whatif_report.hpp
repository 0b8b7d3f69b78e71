// A report folder: index.html, its pictures, and the same result as data (whatif.json, whatif.csv, config.toml).
//
// Contract: written under a temporary name and renamed, so the folder is complete or absent. Errors: Output as
// OutputFolder; Input if the rendered picture is no PNG.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/report/charts/colormap.hpp"
#include "app/report/context/context.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/packings/published.hpp"
#include "sim/engine/stages/simt.hpp"

namespace rayreplay::report {

/// The result as JSON: schema rayreplay.whatif/1, docs/surfaces.md.
[[nodiscard]] nlohmann::ordered_json whatif_json(const Context& context, const experiment::WhatIfResult& result,
                                                 const std::optional<Published>& published);

/// The base experiment as TOML; comparing flags in a comment.
[[nodiscard]] std::string whatif_toml(const experiment::Settings& settings, const std::vector<std::string>& packings,
                                      const std::vector<std::string>& swizzles);

/// Marks that identify a report folder: the generator's mark in index.html, and the file names of docs/surfaces.md.
[[nodiscard]] output::FolderKind report_folder();

struct ReportOptions {
  std::filesystem::path folder;
  bool force = false;
  std::string image_png;  ///< bytes of the rendered picture; "" for none
  pictures::Colormap colormap = pictures::Colormap::Viridis;
  std::vector<std::string> packings{};  ///< requested; empty: all
};

void write_report(const ReportOptions& options, const Context& context, const experiment::WhatIfResult& result,
                  const std::optional<Published>& published);

}  // namespace rayreplay::report
