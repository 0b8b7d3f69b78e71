// Conversion of a build's geometry to that of a trace. Internal to this room.
#pragma once

#include <string>

#include "capture/spool/format.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// "" and the geometry, or the reason why it is unknown.
[[nodiscard]] std::string convert_geometry(const spool::Geometry& from, trace::Geometry& to);

}  // namespace rayreplay::ingest
