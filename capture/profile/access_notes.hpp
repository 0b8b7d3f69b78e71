// Notes on recorded accesses that are not all: a capture took a sample of the threads, or lost some.
//
// Contract: a note for each of these, of the trace's configuration (access_sample.hpp, lost_accesses.hpp; also that of
// a merged profile); none if all accesses are there. Numbers of accesses are those of the recorded ones, which the
// notes say. O(size of the configuration).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

/// `recorded`: executions by lane of all sites.
[[nodiscard]] std::vector<std::string> access_notes(const trace::Header& header, std::uint64_t recorded);

}  // namespace rayreplay::profile
