// What `rayreplay cache` prints and writes: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.cache/1 (docs/surfaces.md): the full resolved configuration, every key of the
// machine, trace hash, tool version and device beside levels, kinds of data, SMs, windows, histograms and curves. The
// folder holds index.html (no scripts, nothing external, light and dark), cache.json, cache.csv, config.toml,
// machine.toml and pictures of what each pixel's accesses met. The same result gives the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/output_folder.hpp"
#include "app/pictures/colormap.hpp"
#include "app/report/context.hpp"
#include "base/accelerator.hpp"
#include "sim/experiment/cache.hpp"
#include "sim/experiment/settings/settings.hpp"

namespace rayreplay::report {

struct CacheContext {
  std::string trace_file;
  const experiment::CacheResult& result;
  const experiment::Settings& settings;  ///< that the result depends on, as they were resolved
  const Context* launch = nullptr;       ///< of a captured launch; null: an imported memory trace
  std::vector<StageRecord> stages{};     ///< what ran where
};

[[nodiscard]] std::string cache_text(const CacheContext& context);
[[nodiscard]] nlohmann::ordered_json cache_json(const CacheContext& context);
[[nodiscard]] std::string cache_csv(const CacheContext& context);
/// The experiment that gives such numbers again (TOML). `machine`: named instead of the machine asked for, if not "".
[[nodiscard]] std::string cache_configuration(const CacheContext& context, const std::string& machine = "");

struct CacheReportOptions {
  std::filesystem::path folder;
  bool force = false;
  pictures::Colormap colormap = pictures::Colormap::Viridis;
};

/// By what such a folder is known.
[[nodiscard]] output::FolderKind cache_folder();
void write_cache_report(const CacheReportOptions& options, const CacheContext& context);

}  // namespace rayreplay::report
