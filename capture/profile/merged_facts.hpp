// The driver's facts of pipelines, of several runs.
//
// Contract: facts of one pipeline from several runs are kept once if they are equal. Stack sizes that commands set may
// differ: the largest is kept, as over the launches of a run. If other facts differ (another driver, other options),
// none of them is kept, because none is the merged profile's; a remark names the runs and the first difference. Facts
// that only some runs have are kept. Numbers of pipelines and shaders are those of the result. O(facts).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class MergedFacts {
 public:
  /// `run`: its name in remarks.
  void add(trace::PipelineFacts facts, const std::string& run);

  /// By pipeline, ascending.
  [[nodiscard]] std::vector<trace::PipelineFacts> facts() const;
  /// By pipeline whose facts are left out: the first two runs that differ, and their difference.
  [[nodiscard]] std::map<std::uint32_t, std::string> contradictions() const;

 private:
  struct Known {
    trace::PipelineFacts facts;
    std::string run;
    std::string contradiction;  ///< empty: all runs agree so far
  };
  std::map<std::uint32_t, Known> known_;
};

}  // namespace rayreplay::profile
