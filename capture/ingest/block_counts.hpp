// The counts of basic blocks, from the counters of a spool. Internal to this room.
//
// Contract: the launches' counts are summed by pipeline and module; every block's count is derived from the counters,
// with a check of the flow (derived_counts.hpp). Contradictions are left out, with a line in `remarks`: counts
// that do not fit their counters, functions whose flow is not conserved, groups that cannot have so many lanes.
#pragma once

#include <string>
#include <vector>

#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

[[nodiscard]] trace::BlockCounts read_block_counts(const SpoolContents& contents, const spool::Device& device,
                                                   std::vector<std::string>& remarks);

}  // namespace rayreplay::ingest
