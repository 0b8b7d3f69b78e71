// Output of `rayreplay cache`: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.cache/1 (docs/surfaces.md): the full resolved configuration, every key of the
// machine, trace hash, tool version and device, and levels, kinds of data, SMs, windows, histograms and curves. The
// folder has index.html (no scripts, nothing external, light and dark), cache.json, cache.csv, config.toml,
// machine.toml and pictures per pixel, with histograms of parts histograms.csv, with evictions evictions.csv. The same
// result gives the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/cache/cache_groups.hpp"
#include "app/report/cache/cache_histograms.hpp"
#include "app/report/charts/colormap.hpp"
#include "app/report/context/context.hpp"
#include "app/report/export/output_folder.hpp"
#include "base/accelerator.hpp"
#include "sim/caching/cache.hpp"
#include "sim/machine/time_history.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::report {

struct CacheContext {
  std::string trace_file;
  const experiment::CacheResult& result;
  const experiment::Settings& settings;           ///< all that affect the result, resolved
  const Context* launch = nullptr;                ///< of a captured launch; null: an imported memory trace
  std::vector<StageRecord> stages{};              ///< device of each stage
  std::vector<LaunchDistances> launches{};        ///< histograms by launch; empty unless wanted
  std::vector<ElementGroup> groups{};             ///< hit rates by the elements' place; empty unless wanted
  const machine::TimeHistory* history = nullptr;  ///< of memory time; null: none
};

[[nodiscard]] std::string cache_text(const CacheContext& context);
[[nodiscard]] nlohmann::ordered_json cache_json(const CacheContext& context);
/// Of the CSV: `cache_rows` with its provenance.
[[nodiscard]] output::Table cache_csv_rows(const CacheContext& context);
/// The experiment that reproduces these numbers (TOML). `machine`: replaces the machine's name or path unless "".
/// `folder`: of the file that is to hold the text; the schedule's path is relative to it unless "".
[[nodiscard]] std::string cache_configuration(const CacheContext& context, const std::string& machine = "",
                                              const std::string& folder = "");

struct CacheReportOptions {
  std::filesystem::path folder;
  bool force = false;
  pictures::Colormap colormap = pictures::Colormap::Viridis;
};

/// Marks that identify such a folder.
[[nodiscard]] output::FolderKind cache_folder();
void write_cache_report(const CacheReportOptions& options, const CacheContext& context);

}  // namespace rayreplay::report
