// The memory of recorded accesses to images, in an assumed layout: for access_profile.
//
// Contract: texels lie as in access streams, and samples touch those of their filter (sim/memory/streams/
// image_memory.hpp). The layout is an assumption, because a trace does not have the hardware's. `layout`: a spec of
// memory::ImageLayouts. The trace must outlive the functions. Errors: those of image_memory.hpp, Input and Resource.
// O(n log n) in a launch's accesses, an access O(log images).
#pragma once

#include <string>

#include "capture/profile/access_profile.hpp"

namespace rayreplay::report {

[[nodiscard]] profile::LaunchImages images_in_layout(const trace::Trace& trace, const std::string& layout);

}  // namespace rayreplay::report
