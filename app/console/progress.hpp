// Progress bar on standard error, drawn only when that is a terminal.
//
// Contract: a Progress for the libraries; `advance` may be called from any thread, draws at most ten times a second and
// otherwise costs one atomic addition. `finish` and the destructor erase the bar, so that it never mixes with messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/progress.hpp"

namespace rayreplay::console {

[[nodiscard]] std::unique_ptr<Progress> make_progress();  ///< null when standard error is no terminal

/// One drawn line, without control characters: "packings  [#####.....]  50 %  12 s". Total 0 means unknown.
[[nodiscard]] std::string progress_line(std::string_view stage, std::uint64_t done, std::uint64_t total,
                                        double seconds);

}  // namespace rayreplay::console
