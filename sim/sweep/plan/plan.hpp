// The plan of a sweep: its configurations, one after another, and the order in which they are best worked off.
//
// Contract: run r of 0 … runs() − 1 is base + one value of each axis, in the order of the sampler; the same definition
// gives the same runs everywhere. Configurations that exclusions or conditions drop have no number; one that cannot be
// completed (a parameter that its model does not have) keeps its number where a condition cannot be judged: its error
// is a result. A *unit* is what one worker evaluates at once: runs that share the costliest part of the costliest
// output they want (units.hpp), at most `most_unit_runs` of them; every run is in exactly one. Units are ordered as a
// graph in depth-first order: those that share inputs, structures and streams come one after another, so that each
// shared stage is made once and can be forgotten. Which stage an axis touches is the parameter table's (StageMask).
// Time and memory: O(runs · axes); 100,000 runs in less than two seconds. Errors: Usage for a sweep without any
// configuration (says what drops them), and for more than kMostRuns before anything is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/run_table.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {

struct Unit {
  std::vector<std::uint64_t> runs;  ///< ascending
  std::uint64_t affinity = 0;       ///< units of one number share inputs and structure: best kept on one worker
  std::uint64_t input = 0;          ///< units of one number share inputs
};

/// Runs before exclusions and conditions, without making a plan; 2^64 − 1: more than can be counted.
[[nodiscard]] std::uint64_t count_runs(const Definition& definition);

struct PlanOptions {
  std::uint64_t most_unit_runs = 4096;
};

class Plan {
 public:
  explicit Plan(Definition definition, const PlanOptions& options = {});

  [[nodiscard]] std::uint64_t runs() const {
    return table_.size();
  }
  [[nodiscard]] const Definition& definition() const {
    return definition_;
  }
  [[nodiscard]] const std::vector<std::string>& keys() const {
    return keys_;
  }
  /// By axis, in the order of keys().
  [[nodiscard]] std::vector<ParameterValue> values(std::uint64_t run) const;
  /// base + values; not yet complete. May throw Usage where the values do not go together.
  [[nodiscard]] experiment::Settings settings(std::uint64_t run) const;
  [[nodiscard]] const std::vector<Unit>& units() const {
    return units_;
  }
  /// Different results of each stage that the outputs of the runs need.
  [[nodiscard]] const std::vector<std::uint64_t>& stages() const {
    return stages_;
  }
  /// Points of the sampler that exclusions and conditions dropped.
  [[nodiscard]] std::uint64_t dropped() const {
    return dropped_;
  }

 private:
  Definition definition_;
  std::vector<std::string> keys_;
  std::vector<Unit> units_;
  std::vector<std::uint64_t> stages_;
  std::uint64_t dropped_ = 0;
  RunTable table_;
};

}  // namespace rayreplay::sweep
