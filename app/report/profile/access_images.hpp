// The memory of recorded accesses to images, in an assumed layout: for access_profile.
//
// Contract: as in access streams (sim/memory/streams/image_memory.hpp): texels of samples are those of the filter,
// layouts of hardware are not in a trace. `layout`: a spec of memory::ImageLayouts. The trace must outlive the
// functions. Errors: Input for images that cannot be; Resource for too many elements. O(n log n) in a launch's
// accesses, an access O(log images).
#pragma once

#include <string>

#include "capture/profile/access_profile.hpp"

namespace rayreplay::report {

[[nodiscard]] profile::LaunchImages images_in_layout(const trace::Trace& trace, const std::string& layout);

}  // namespace rayreplay::report
