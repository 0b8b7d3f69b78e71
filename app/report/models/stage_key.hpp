// The names of stages in keys of JSON and CSV.
#pragma once

#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::report {

/// A kind's name as a part of a key: "closest_hit".
[[nodiscard]] std::string stage_key(trace::EventKind kind);

}  // namespace rayreplay::report
