// What a sweep would need, before it runs.
//
// Contract: the plan knows how many different results of each stage the sweep needs; what one of them needs is asked of
// the evaluator for some runs that are spread evenly over the plan (all of them where there are few). A run that the
// evaluator cannot judge (a trace that is not there) is left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::app {

struct StageNeed {
  std::uint64_t results = 0;       ///< different ones, of the whole sweep
  double stored = 0;               ///< share of them that is on disk, of those asked for
  std::uint64_t memory_bytes = 0;  ///< the most of one
  std::uint64_t asked = 0;         ///< different results that were asked for
};

struct SweepForecast {
  std::vector<StageNeed> stages;  ///< by stage
  std::uint64_t runs_asked = 0;
  std::uint64_t runs_not_judged = 0;
  std::string first_reason;            ///< of the latter
  std::uint64_t run_memory_bytes = 0;  ///< estimate: the most that one run needs
};

[[nodiscard]] SweepForecast forecast_sweep(const sweep::Plan& plan, experiment::Evaluator& evaluator,
                                           std::uint64_t most_runs_asked);

[[nodiscard]] output::Table forecast_table(const SweepForecast& forecast);

}  // namespace rayreplay::app
