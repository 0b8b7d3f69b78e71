// One profile from those of several runs of an application.
//
// Contract: the result is a trace with the shaders that any run counts, and with the sums of their counts: blocks
// (count_sums.hpp), branches and loads (instruction_sums.hpp), values (value_sums.hpp), paths (path_sums.hpp) and
// accesses by site (site_sums.hpp). It has no launches and no geometry, because no event belongs to the sum. Kinds of
// counts that not all runs have are left out: a sum is of all runs or not there. So are accesses of different samples
// of threads, or of which a capture lost some; the configuration says the sample of those that are there. The driver's
// facts of these pipelines are kept where the runs agree (merged_facts.hpp), with the shaders of their groups.
//   - Shaders of two runs are one if stage, entry point and all words of the module are the same.
//   - Pipelines of two runs are one if they have the same counted shaders.
//   - Shaders or pipelines that are alike within a run are matched by their order by number.
// Names do not count, because capture makes them of numbers; of several the first by bytes is kept. Shaders of the
// result are ordered by stage, entry point and words, pipelines by their shaders and numbered from 0. The result does
// not depend on the order of the runs, nor on which of them were merged before: merging merged profiles gives the same
// bytes as merging all runs at once (merge_state.hpp). One limit: pipelines that only a left-out kind of counts tells
// apart are matched by number. `not_captured` has the differences between the runs, the parts that are left out, and
// each run's own lines; `configuration` has the state. Errors (Input): no kind of counts in all runs, different warp
// sizes, one run twice, nothing in common, counts beyond 64 bits, runs that contradict each other on one module.
// Linear memory in the profiles; O(rows · log rows).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

/// A checked profile (trace::load_profile) and its file's name for messages. Sites of accesses must have sums.
struct Run {
  std::string file;
  trace::Profile profile;
};

/// The profile of a file, with sums of its accesses: loads the launches for these alone, and frees them.
[[nodiscard]] Run load_run(const std::filesystem::path& path);

struct Merged {
  trace::Trace trace;
  std::vector<std::string> remarks;                 ///< on parts not in all runs, or left out; also in `not_captured`
  std::vector<std::string> reasons;                 ///< why something is left out, where this merge saw it
  std::size_t pipelines = 0, common_pipelines = 0;  ///< all; those in every run
};

/// Two runs or more.
[[nodiscard]] Merged merge(const std::vector<Run>& runs);

}  // namespace rayreplay::profile
