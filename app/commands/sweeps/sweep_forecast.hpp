// Estimate of a sweep's work and memory.
//
// Contract: the plan has the number of different results of each stage. The evaluator estimates the memory of one
// result for some runs, spaced evenly over the plan (all runs if they are few). Runs that the evaluator cannot judge (a
// missing trace) are left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::app {

struct StageNeed {
  std::uint64_t results = 0;       ///< different results, over the whole sweep
  double stored = 0;               ///< share of the sampled results that is on disk
  std::uint64_t memory_bytes = 0;  ///< maximum of one result
  std::uint64_t asked = 0;         ///< number of sampled results
};

struct SweepForecast {
  std::vector<StageNeed> stages;  ///< by stage
  std::uint64_t runs_asked = 0;
  std::uint64_t runs_not_judged = 0;
  std::string first_reason;            ///< the first error among the runs left out
  std::uint64_t run_memory_bytes = 0;  ///< estimate: maximum of one run
};

[[nodiscard]] SweepForecast forecast_sweep(const sweep::Plan& plan, experiment::Evaluator& evaluator,
                                           std::uint64_t most_runs_asked);

[[nodiscard]] output::Table forecast_table(const SweepForecast& forecast);

}  // namespace rayreplay::app
