// One profile from those of several runs of an application.
//
// Contract: the result is a trace with shaders and block counts, without launches and without geometry, because no
// event belongs to the sum, and without counts of branches and loads. It has the shaders that any run counts. What is one and the same:
//   - a shader: stage, entry point and all words of its module; of several alike in one run, those with the same place
//     among them by number;
//   - a pipeline: exactly the same counted shaders; of several alike in one run, likewise.
// Names do not count, since capture makes them of numbers. The counts of one shader in one pipeline add up
// (count_sums.hpp). The runs are taken by rising hash, so that the result does not depend on their order. Shaders are
// numbered in that order; a pipeline keeps the number that it has in the first run that has it, or gets one behind all
// others if that is taken. `not_captured` says what is not in all runs, what is left out, and what each run missed;
// `configuration` names the hashes of the runs, also of those that were merged before. Errors (Input): no counts,
// different warp sizes, one run twice, nothing in common, counts beyond 64 bits.
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
  std::vector<std::string> remarks;                 ///< what is not in all runs or left out; also in `not_captured`
  std::size_t pipelines = 0, common_pipelines = 0;  ///< all; those in every run
};

/// Two runs or more.
[[nodiscard]] Merged merge(std::vector<Run> runs);

}  // namespace rayreplay::profile
