// The plan of a sweep: its configurations, one after another, and the order in which they are best worked off.
//
// Contract: run r of 0 … runs() − 1 is base + one value of each axis, in the order of the sampler; the same definition
// gives the same runs everywhere. Configurations that exclusions or conditions drop have no number. A *unit* is what
// one worker evaluates at once: runs that share the costliest stages (all caches of one stream; all packings and all
// scheduler models of one launch), at most `most_unit_runs` of them. Units are ordered as a graph in depth-first order:
// those that share inputs, structures and streams come one after another, so that each shared stage is made once and
// can be forgotten. Which stage an axis touches is the parameter table's (StageMask). `summary` counts the stages that
// are shared. Time and memory: O(runs · axes); 100,000 runs in less than two seconds. Errors: Usage for a sweep
// without any configuration (which condition drops them all).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

struct Unit {
  std::vector<std::uint64_t> runs;  ///< ascending
  std::uint64_t affinity = 0;       ///< units of one number share inputs and structure: best kept on one worker
};

struct PlanOptions {
  std::uint64_t most_unit_runs = 4096;
};

class Plan {
 public:
  Plan(Definition definition, const PlanOptions& options = {});

  [[nodiscard]] std::uint64_t runs() const;
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
  /// Different results of each stage that the runs need.
  [[nodiscard]] const std::array<std::uint64_t, experiment::kStages>& stages() const {
    return stages_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    return dropped_;
  }

 private:
  Definition definition_;
  std::vector<std::string> keys_;
  std::vector<Unit> units_;
  std::array<std::uint64_t, experiment::kStages> stages_{};
  std::uint64_t dropped_ = 0;
  std::vector<std::uint32_t> choice_;  ///< run · factors: index of the factor's value (discrete axes)
  std::vector<ParameterValue> drawn_;  ///< run · continuous axes
};

}  // namespace rayreplay::sweep
