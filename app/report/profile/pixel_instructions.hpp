// Heat maps of executed instructions: how much of a shader's code each pixel ran.
//
// Contract: from paths of calls, for one launch: a map of all shaders, then one for each of the shaders that executed
// most (at most kMostMaps), by falling number of instructions. Slices of a deep launch are summed. A pixel whose
// threads have no path (of the shader) has no value. No pictures where the launch has no paths, is a single row, or is
// larger than a picture can be. Values are exact up to 2^24. O(events · maps).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/page/page.hpp"
#include "capture/profile/path_profile.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

inline constexpr std::size_t kMostMaps = 8;

/// `file` stands for the trace in messages; `paths`: of the trace's.
[[nodiscard]] std::vector<Picture> instruction_maps(const trace::Trace& trace, const profile::PathProfile& paths,
                                                    const trace::Launch& launch, const std::string& file);

/// Whether a map can have this name.
[[nodiscard]] bool is_instruction_map(std::string_view name);

}  // namespace rayreplay::report
