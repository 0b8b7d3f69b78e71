// A geometry as a build read it, as a trace has it. Internal to this room.
#pragma once

#include <string>

#include "capture/spool/format.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// "" and the geometry, or why it is not known.
[[nodiscard]] std::string convert_geometry(const spool::Geometry& from, trace::Geometry& to);

}  // namespace rayreplay::ingest
