// Accesses of shaders that a capture lost, over all launches of a trace, and a text on them.
//
// Contract: the sum of what the trace's configuration says of each launch (missing_accesses.hpp; of two objects for one
// launch the last counts, as there). Sums beyond 64 bits are the largest number. Any text may be there: it has none.
// O(size of the configuration · log of launches).
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/missing_accesses.hpp"

namespace rayreplay::trace {

[[nodiscard]] MissingAccesses all_missing_accesses(const Header& header);

/// "the capture lost 7 of 10 accesses of shaders and 9 words of events, which may have held accesses of shaders"; the
/// parts that are there. `recorded`: accesses that the trace has. Empty if none are missing.
[[nodiscard]] std::string lost_accesses_text(const MissingAccesses& missing, std::uint64_t recorded);

}  // namespace rayreplay::trace
