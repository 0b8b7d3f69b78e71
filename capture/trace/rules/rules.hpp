// The rules of a trace, each checked in one place. Internal to this room; validate.hpp is the way in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "capture/trace/rules/conservation.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

/// Faults found so far, in order, up to a limit.
class FaultList {
 public:
  FaultList(std::size_t limit, std::string file) : limit_(limit), file_(std::move(file)) {}

  [[nodiscard]] bool full() const {
    return list_.size() >= limit_;
  }
  [[nodiscard]] const std::vector<ErrorInfo>& list() const {
    return list_;
  }
  /// `where`: dataset or attribute as in the file, "/launch/0/events/kind".
  void add(const std::string& where, const std::string& what, const std::string& found, const std::string& expected);
  void add_row(const std::string& dataset, std::uint64_t row, const std::string& what, const std::string& found,
               const std::string& expected);

 private:
  std::size_t limit_;
  std::string file_;
  std::vector<ErrorInfo> list_;
};

/// "" or why a launch cannot have this size.
[[nodiscard]] std::string launch_size_fault(LaunchSize size);

/// A text that is not UTF-8 is a fault: JSON and all other outputs take UTF-8 alone.
void check_text(const std::string& text, const std::string& where, FaultList& faults);
void check_header(const Header& header, FaultList& faults);
void check_shaders(const std::vector<Shader>& shaders, FaultList& faults);
/// `warp_size` 0: not known.
void check_block_counts(const BlockCounts& counts, std::size_t shaders, std::uint32_t warp_size, FaultList& faults);
/// `kind`: "branches" or "loads"; `addresses`: loads have a column of them.
void check_instruction_counts(const InstructionCounts& counts, const char* kind, bool addresses, std::size_t shaders,
                              std::uint32_t warp_size, FaultList& faults);
void check_value_counts(const ValueCounts& counts, std::size_t shaders, std::uint32_t warp_size, FaultList& faults);
/// The tables of paths by themselves.
void check_path_table(const Paths& paths, std::size_t shaders, FaultList& faults);
/// The paths of events and threads. Requires a sound table and sound launches.
void check_paths(const Trace& trace, FaultList& faults);
/// The table of sites of accesses by itself.
void check_access_sites(const AccessSites& sites, std::size_t shaders, FaultList& faults);
[[nodiscard]] std::vector<ShaderStage> stages_of(const std::vector<Shader>& shaders);
/// `stages`: of all shaders.
void check_pipeline_facts(const std::vector<PipelineFacts>& facts, const std::vector<ShaderStage>& stages,
                          FaultList& faults);
/// The accesses of all launches. Requires a sound table and sound launches.
void check_accesses(const Trace& trace, FaultList& faults);
/// The table of a launch's images by itself. `path`: "/launch/0/images".
void check_launch_images(const Images& images, const std::string& path, FaultList& faults);
/// Over all launches: numbers of images are dense in order of first appearance, and an image has one size. Requires
/// sound tables.
void check_images(const Trace& trace, FaultList& faults);
/// Whether a sound table has a row of this descriptor. O(log n).
[[nodiscard]] bool has_image(const Images& images, std::uint32_t set, std::uint32_t binding, std::uint32_t element);
/// A row of counts below `path`: groups of 1 to `warp_size` lanes.
void check_groups(const std::string& path, std::size_t row, std::uint64_t lanes, std::uint64_t groups,
                  std::uint32_t warp_size, FaultList& faults);
void check_scene(const Scene& scene, FaultList& faults);
/// The parts of a launch that are not events: size, lengths of columns, offsets, warps and lanes, groups. Returns false
/// if the offsets or lengths are so broken that rays and events cannot be looked at.
[[nodiscard]] bool check_launch_frame(const Launch& launch, const std::string& path, std::uint32_t warp_size,
                                      FaultList& faults);
/// Lengths of columns and offsets alone.
[[nodiscard]] bool check_launch_columns(const Launch& launch, const std::string& path, FaultList& faults);
/// What a launch says about the scene and the shaders apart from its events: its top-level structure, its shader table.
/// Returns false if the events cannot be held against the scene.
[[nodiscard]] bool check_launch_bindings(const Launch& launch, const std::string& path,
                                         const std::vector<Shader>& shaders, const Scene& scene, FaultList& faults);
/// Rays and events of every thread, and their grammar. Requires a sound frame, sound bindings and a sound scene.
void check_events(const Launch& launch, const std::string& path, const std::vector<Shader>& shaders, const Scene& scene,
                  FaultList& faults);
/// Legal, but worth knowing. `counts`: of the trace's launches.
[[nodiscard]] std::vector<std::string> collect_notes(const Trace& trace, const std::vector<EventCounts>& counts);

}  // namespace rayreplay::trace
