// The driver's facts of the pipelines of captured launches, for a trace. Internal to this room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// The facts of the pipelines that launches of the device with events used, by pipeline. `stages`: of all shaders.
/// Names are cleaned and cut to 255 bytes, the most that Vulkan allows. Shaders that the spool does not have, or of
/// another stage, are left out with their sizes; `remarks` gets a line on each pipeline of which something is missing.
[[nodiscard]] std::vector<trace::PipelineFacts> read_pipeline_facts(const SpoolContents& contents,
                                                                    const spool::Device& device,
                                                                    const std::vector<std::uint8_t>& stages,
                                                                    std::vector<std::string>& remarks);

}  // namespace rayreplay::ingest
