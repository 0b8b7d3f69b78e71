// The plan of a sweep: its configurations in their order, and the units of work.
//
// Contract: run r of 0 … runs() − 1 is base + one value of each axis, in the order of the sampler. The same definition
// gives the same runs on every machine. Configurations that exclusions or conditions drop have no number. Models,
// machines and parameters that no configuration can use are errors of the plan (check_specs.hpp). A configuration whose
// values do not go together (a parameter that its model does not have) keeps its number unless a condition decides
// without it: its error is a result.
//
// A *unit* is the work that one worker evaluates at once: at most `most_unit_runs` runs that share the costliest part
// of their costliest output (units.hpp). Every run is in exactly one unit. Units with the same inputs, structures and
// streams are neighbours, so each shared stage is computed once and can then be evicted. The parameter table says which
// stages an axis affects (StageMask). Time and memory: O(runs · axes); 100,000 runs in less than two seconds. Errors:
// Usage for a sweep without any configuration (the message says what drops them), and for more than kMaxRuns before
// exclusions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/run_table.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {

struct Unit {
  std::vector<std::uint64_t> runs;  ///< ascending
  std::uint64_t affinity = 0;       ///< units with equal numbers share inputs and structure: best kept on one worker
  std::uint64_t input = 0;          ///< units with equal numbers share inputs
};

/// Runs before exclusions and conditions, computed without a plan; 2^64 − 1 on overflow.
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
  /// By factor, the index of its value; of continuous factors without meaning.
  [[nodiscard]] std::span<const std::uint32_t> choices(std::uint64_t run) const {
    return table_.row(run).choice;
  }
  /// base + values, not completed. Throws Usage if the values do not fit together.
  [[nodiscard]] experiment::Settings settings(std::uint64_t run) const;
  [[nodiscard]] const std::vector<Unit>& units() const {
    return units_;
  }
  /// Number of different results of each stage that the outputs need.
  [[nodiscard]] const std::vector<std::uint64_t>& stages() const {
    return stages_;
  }
  /// Sampler points that exclusions and conditions dropped.
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
