// Traces a scene into a trace file in one call.
//
// Contract: traces as `trace_scene` does and streams the events into a new trace file at `path`, which appears whole or
// not at all. The file's bytes depend on scene, options and seed only. Errors: those of trace_scene and of
// trace::Writer.
#pragma once

#include <filesystem>
#include <string>

#include "base/progress.hpp"
#include "capture/reference/tracer.hpp"

namespace rayreplay::reference {

struct TraceFileResult {
  TracerResult tracer;
  std::string hash;  ///< of the file's content
};

TraceFileResult trace_to_file(const RenderScene& scene, const TracerOptions& options, const std::filesystem::path& path,
                              bool overwrite, Progress* progress = nullptr);

}  // namespace rayreplay::reference
