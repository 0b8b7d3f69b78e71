// One profile from those of several runs of an application.
//
// Contract: the result is a trace with the shaders that any run counts, and with their block counts. It has no launches
// and no geometry, because no event belongs to the sum, and no counts of branches and loads. The counts of one shader
// in one pipeline add up (count_sums.hpp). The driver's facts of these pipelines are kept where the runs agree
// (merged_facts.hpp), with the shaders of their groups.
//   - Shaders of two runs are one if stage, entry point and all words of the module are the same.
//   - Pipelines of two runs are one if they have the same counted shaders.
//   - Shaders or pipelines that are alike within a run are matched by their order by number.
// Names do not count, because capture makes them of numbers. The runs are taken by rising hash, so that the result does
// not depend on their order. Shaders are numbered in that order. A pipeline keeps its number from the first run that
// has it, or gets one above all others if that number is taken. `not_captured` has the differences between the runs,
// the parts that are left out, and each run's own lines; `configuration` has the hashes of the runs, also of those that
// were merged before. Errors (Input): no counts, different warp sizes, one run twice, no pipeline in common, counts
// beyond 64 bits.
#pragma once

#include <string>
#include <vector>

#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

/// A checked profile (trace::load_profile) and its file's name for messages.
struct Run {
  std::string file;
  trace::Profile profile;
};

struct Merged {
  trace::Trace trace;
  std::vector<std::string> remarks;                 ///< on parts not in all runs, or left out; also in `not_captured`
  std::size_t pipelines = 0, common_pipelines = 0;  ///< all; those in every run
};

/// Two runs or more.
[[nodiscard]] Merged merge(std::vector<Run> runs);

}  // namespace rayreplay::profile
