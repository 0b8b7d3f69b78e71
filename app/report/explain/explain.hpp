// Output of `rayreplay explain`: reasons of intersection tests, as tables, JSON and pictures.
//
// Contract: `kind_table` has a row for each kind and a last row for all, with tests, share of all tests, tests a ray,
// and the four parts by the ray's goal and the primitive's type. "Unnecessary" is every kind but necessary: it ranks
// objects and pixels, ties by number. Keys of JSON and CSV are listed in docs/surfaces.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/charts/colormap.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/export/table.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "base/accelerator.hpp"
#include "sim/settings/settings.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::report {

/// Schema of the JSON form and of the result file.
inline constexpr const char* kExplainSchema = "rayreplay.explain/2";

struct Explanation {
  std::string trace_file;
  const trace::Trace& trace;
  std::uint32_t launch = 0;
  const traversal::Classification& result;
  experiment::Settings configuration;  ///< all that affect the answer, resolved
  std::size_t worst = 10;
  const traversal::Simulation* simulation = nullptr;  ///< classified in `result`; null: the trace's own tests
  bool ground_truth = false;
  std::vector<StageRecord> stages{};  ///< device of each stage
};

/// Ignored data, one line a kind: for a warning, and in the notes of all forms but CSV.
[[nodiscard]] std::vector<std::string> explain_warnings(const traversal::Classification& result);

[[nodiscard]] output::Table kind_table(const traversal::Classification& result);
[[nodiscard]] output::Table object_table(const Explanation& explanation);
[[nodiscard]] output::Table pixel_table(const Explanation& explanation);
/// Ground truth by class; requires ground_truth.
[[nodiscard]] output::Table truth_table(const traversal::GroundTruth& truth);

[[nodiscard]] std::string explain_text(const Explanation& explanation);
[[nodiscard]] nlohmann::ordered_json explain_json(const Explanation& explanation);
/// Of the CSV: `kind_table` with its provenance.
[[nodiscard]] output::Table explain_rows(const Explanation& explanation);

/// A heat map for each kind, one of all tests and one of the unnecessary ones. Slices of a deep launch are summed.
[[nodiscard]] std::vector<Picture> explain_pictures(const Explanation& explanation, pictures::Colormap colormap);

/// A folder with the pictures, explain.json and explain.csv.
[[nodiscard]] output::FolderKind explain_folder();
void write_explain_folder(const Explanation& explanation, const std::string& folder, bool force,
                          pictures::Colormap colormap);

}  // namespace rayreplay::report
