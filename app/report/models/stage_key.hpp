// The stages of events that run on warps: all of them, and their names in keys of JSON and CSV.
#pragma once

#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::report {

/// A kind's name as a part of a key: "closest_hit".
[[nodiscard]] std::string stage_key(trace::EventKind kind);

/// Calls visit(kind, index of the kind).
template <class Visit>
void for_each_stage(const Visit& visit) {
  for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
    const auto kind = static_cast<trace::EventKind>(i);
    if (trace::is_warp_event(kind)) {
      visit(kind, i);
    }
  }
}

}  // namespace rayreplay::report
