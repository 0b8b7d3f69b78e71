// Output of `rayreplay profile`: text, JSON, CSV, and a report folder.
//
// Contract: JSON has the schema rayreplay.profile/1 (docs/surfaces.md). The folder has index.html (no scripts, nothing
// external), profile.json, and a CSV for each of its lists that the trace has counts for: shaders, blocks, classes and
// levels, histogram; uniformity, branches and loads; paths, pixels; values, uniform-values; memory, lines, images;
// registers. With paths it has maps of a launch's executed instructions (pixel_instructions.hpp). The same trace and
// machine give the same bytes.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/output_folder.hpp"
#include "app/report/page/page.hpp"
#include "app/report/profile/access_table.hpp"
#include "app/report/profile/pixel_histogram.hpp"
#include "app/report/profile/profile_mix.hpp"
#include "app/report/profile/register_chart.hpp"
#include "app/report/shaders/executions.hpp"
#include "app/report/shaders/measured_uniformity.hpp"
#include "app/report/shaders/shader_report.hpp"
#include "capture/profile/path_profile.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/profile/value_profile.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::report {

struct ProfileContext {
  std::string file;
  const trace::Profile& trace;
  const std::vector<profile::ShaderProfile>& shaders;  ///< of shader_profiles(trace)
  const profile::AgreementProfile& agreement;          ///< of agreement_profile(trace)
  const profile::PathProfile& paths;                   ///< of path_profile(trace)
  std::vector<Picture> maps{};                         ///< of executed instructions
  std::uint32_t maps_launch = 0;                       ///< the launch that they are of
  std::vector<profile::ValuePlace> values{};           ///< of value_profile(trace)
  std::uint32_t top_values = 0;                        ///< shown values of a place
  std::vector<LaunchHistogram> pixels{};               ///< of pixel_histograms(whole trace)
  AccessDetails accesses{};                            ///< of access_profile(whole trace); empty: not computed
  output::Table images{};                              ///< of image_table(whole trace)
  std::string image_layout{};                          ///< that is assumed for sectors of images
  machine::Machine machine{};                          ///< of the occupancy
  std::uint32_t lanes = 0;                             ///< of a warp, for the occupancy
  RegisterMarks registers{};                           ///< of register_marks(trace)

  [[nodiscard]] bool has_blocks() const {
    return trace.block_counts.size() != 0;
  }
  [[nodiscard]] bool has_paths() const {
    return trace.paths.size() != 0;
  }
  [[nodiscard]] bool has_accesses() const {
    return !accesses.accesses.empty();
  }
  [[nodiscard]] bool has_agreement() const {
    return !agreement.branches.empty() || !agreement.loads.empty();
  }
};
/// `blocks`: the document also has the list of blocks.
[[nodiscard]] nlohmann::ordered_json profile_json(const ProfileContext& context, bool blocks);

/// Contents of the page beside the tables of `rayreplay profile`.
struct ProfileDetails {
  std::vector<ShaderRow> rows;  ///< by shader id
  std::map<std::uint16_t, Executions> executions;
  std::vector<ShaderMix> mixes;
  std::map<std::uint16_t, MeasuredPlaces> measured;  ///< by shader id
};
[[nodiscard]] ProfileDetails profile_details(const ProfileContext& context);

/// Marks that identify such a folder.
[[nodiscard]] output::FolderKind profile_folder();
void write_profile_report(const std::filesystem::path& path, bool force, const ProfileContext& context);

}  // namespace rayreplay::report
