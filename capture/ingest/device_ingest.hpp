// The launches of one device of one process as a trace file. Internal to this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/ingest/access_table.hpp"
#include "capture/ingest/call_paths.hpp"
#include "capture/ingest/image_tables.hpp"
#include "capture/ingest/ingest.hpp"
#include "capture/ingest/launch_index.hpp"
#include "capture/ingest/report.hpp"
#include "capture/ingest/scene_builder.hpp"
#include "capture/ingest/shader_counts.hpp"
#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/missing_accesses.hpp"

namespace rayreplay::trace {
class Writer;
}

namespace rayreplay::ingest {

/// Whether a device has counts of dispatches or draws, which make a trace without launches, too.
[[nodiscard]] bool counts_work(const SpoolContents& contents, std::uint32_t device);
/// Whether the launch of the spool belongs to a trace: it has events.
[[nodiscard]] bool has_events(const SpooledLaunch& launch);

class DeviceIngest {
 public:
  DeviceIngest(const SpoolContents& contents, const spool::SpoolReader& reader, const spool::Device& device,
               const IngestOptions& options);

  /// Writes the trace. If a launch's events break a rule after the file was begun, the file is started again without
  /// that launch, since the header must name it.
  TraceSummary run(const std::filesystem::path& path);

 private:
  struct Plan {
    const SpooledLaunch* spooled = nullptr;
    std::uint32_t tlas = trace::kNone;
    std::string left_out;              ///< not empty: why the launch is not in the trace
    std::vector<std::string> remarks;  ///< for not_captured
    bool indexed = false;              ///< remarks of the index are there
    bool checked = false;              ///< decoded to the end without a fault
    std::uint64_t rayless = 0;
    trace::MissingAccesses missing_accesses{};
    LaunchSummary summary;
    std::vector<trace::ShaderRecord> shader_table;
    trace::Images images;  ///< with the device's numbers
  };

  void make_shaders();
  void make_plans();
  void bind(Plan& plan);
  void remark(Plan& plan, const LaunchIndex& index);
  void remark_threads(Plan& plan, const LaunchIndex& index);
  [[nodiscard]] LaunchIndex index(Plan& plan);
  /// Decodes a launch, checks every batch, and writes it if there is a writer. False if the plan changed: the output is
  /// then invalid.
  bool process(Plan& plan, trace::Writer* writer);
  [[nodiscard]] bool write(const std::filesystem::path& path, TraceSummary& summary);
  [[nodiscard]] std::vector<std::string> not_captured() const;
  [[nodiscard]] std::string with_missing_parts(const std::string& configuration) const;

  const SpoolContents& contents_;
  const spool::SpoolReader& reader_;
  const spool::Device& device_;
  const IngestOptions& options_;
  trace::Header header_;
  std::vector<trace::Shader> shaders_;
  std::vector<std::uint8_t> stages_;
  std::vector<std::string> shader_remarks_;
  std::vector<std::string> count_remarks_;
  ShaderCounts counts_;
  std::optional<CallPaths> paths_;  ///< null without paths
  AccessTable accesses_;
  std::vector<trace::PipelineFacts> pipeline_facts_;
  trace::Paths path_table_;     ///< with the calls of the file that is being written
  ImageNumbers image_numbers_;  ///< of the file that is being written
  SceneBuilder scene_;
  std::vector<Plan> plans_;
  std::optional<LaunchIndex> kept_;  ///< of the only launch: its records are walked once
};

}  // namespace rayreplay::ingest
