// Output of `rayreplay whatif --outputs` with `time` or `cache`: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.memory/2 (docs/surfaces.md): the resolved configuration of the first row, the
// machine, the rows with every metric, what moved each, its verdict and break-even. The folder has index.html (no
// scripts, nothing external), memory.json, memory.csv, break-even.csv, config.toml and machine.toml; with a
// rendered picture rendered.png; with maps the pictures of memory_maps.hpp. The same result gives the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/context/context.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/memory/memory_maps.hpp"
#include "app/report/memory/memory_timeline.hpp"
#include "sim/variants/memory_variants.hpp"

namespace rayreplay::report {

struct MemoryContext {
  const Context& context;
  const experiment::MemoryResult& result;
  const experiment::Settings& settings;                    ///< the first row's, resolved
  std::vector<std::pair<std::string, std::string>> flags;  ///< of the command: what the rows differ in
};

[[nodiscard]] std::string memory_text(const MemoryContext& memory);
[[nodiscard]] nlohmann::ordered_json memory_json(const MemoryContext& memory);
/// The table of the CSV: `memory_rows` with its provenance.
[[nodiscard]] output::Table memory_csv(const MemoryContext& memory);
/// The first row's experiment as TOML; the flags in a comment.
[[nodiscard]] std::string memory_toml(const experiment::Settings& settings,
                                      const std::vector<std::pair<std::string, std::string>>& flags);

struct MemoryReportOptions {
  std::filesystem::path folder;
  bool force = false;
  std::string image_png{};  ///< bytes of the rendered picture; "" for none
  pictures::Colormap colormap = pictures::Colormap::Viridis;
};
/// Marks that identify such a folder.
[[nodiscard]] output::FolderKind memory_folder();
void write_memory_report(const MemoryReportOptions& options, const MemoryContext& memory,
                         const std::vector<NamedHistory>& histories, const std::vector<RowMap>& maps);

}  // namespace rayreplay::report
