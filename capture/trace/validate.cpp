#include "capture/trace/validate.hpp"

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

void check_all(const Trace& trace, FaultList& faults) {
  check_header(trace.header, faults);
  check_shaders(trace.shaders, faults);
  check_scene(trace.scene, faults);
  check_block_counts(trace.block_counts, trace.shaders.size(), trace.header.warp_size, faults);
  check_instruction_counts(trace.branch_counts, "branches", false, trace.shaders.size(), trace.header.warp_size,
                           faults);
  check_instruction_counts(trace.load_counts, "loads", true, trace.shaders.size(), trace.header.warp_size, faults);
  check_value_counts(trace.value_counts, trace.shaders.size(), trace.header.warp_size, faults);
  check_path_table(trace.paths, trace.shaders.size(), faults);
  check_access_sites(trace.access_sites, trace.shaders.size(), faults);
  check_pipeline_facts(trace.pipeline_facts, stages_of(trace.shaders), faults);
  // Events are looked up in shaders and scene: with those broken, nothing can be said about them.
  const bool sound_scene = faults.list().empty();
  for (std::size_t i = 0; i < trace.launches.size() && !faults.full(); ++i) {
    const std::string path = fmt::format("/launch/{}", i);
    const bool sound_frame = check_launch_frame(trace.launches[i], path, trace.header.warp_size, faults);
    check_launch_images(trace.launches[i].images, path + "/images", faults);
    if (sound_scene && check_launch_bindings(trace.launches[i], path, trace.shaders, trace.scene, faults) &&
        sound_frame) {
      check_events(trace.launches[i], path, trace.shaders, trace.scene, faults);
    }
  }
  if (faults.list().empty()) {
    check_paths(trace, faults);
    check_images(trace, faults);
    check_accesses(trace, faults);
  }
}

}  // namespace

void check(const Trace& trace, const std::string& name) {
  FaultList faults(1, name);
  check_all(trace, faults);
  if (!faults.list().empty()) {
    throw Error(ErrorKind::Input, faults.list().front());
  }
}

std::vector<ErrorInfo> find_event_faults(const Launch& launch, const std::string& name,
                                         const std::vector<Shader>& shaders, const Scene& scene, std::size_t limit) {
  FaultList faults(limit, name);
  if (check_launch_columns(launch, "", faults) && check_launch_bindings(launch, "", shaders, scene, faults)) {
    check_events(launch, "", shaders, scene, faults);
  }
  return faults.list();
}

Findings find_faults(const Trace& trace, const std::string& name, std::size_t limit) {
  FaultList faults(limit, name);
  check_all(trace, faults);
  Findings findings;
  findings.faults = faults.list();
  if (findings.faults.empty()) {
    findings.counts = count_events(trace);
    findings.notes = collect_notes(trace, findings.counts);
  }
  return findings;
}

}  // namespace rayreplay::trace
