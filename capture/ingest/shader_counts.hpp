// The counts of basic blocks, branches and loads, and of loaded values, from the counters of a spool. Internal to this
// room.
//
// Contract: the launches' counts are summed by pipeline and module; every block's count is derived from the counters,
// with a check of the flow (derived_counts.hpp). Contradictions are left out, with a line in `remarks`: counts
// that do not fit their counters, functions whose flow is not conserved, groups that cannot have so many lanes,
// instructions that are not in their block, more uniform executions than executions, tables with more executions than
// their load. A slot whose key was written in a launch that is not counted is left out, because the spool has only what
// changed in counted launches: its executions are among those without a value.
#pragma once

#include <string>
#include <vector>

#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

struct ShaderCounts {
  trace::BlockCounts blocks;
  trace::InstructionCounts branches, loads;
  trace::ValueCounts values;
};

[[nodiscard]] ShaderCounts read_shader_counts(const SpoolContents& contents, const spool::Device& device,
                                              std::vector<std::string>& remarks);

}  // namespace rayreplay::ingest
