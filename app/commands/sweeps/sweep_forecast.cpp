#include "app/commands/sweeps/sweep_forecast.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace rayreplay::app {

SweepForecast forecast_sweep(const sweep::Plan& plan, experiment::Evaluator& evaluator, std::uint64_t most_runs_asked) {
  SweepForecast result;
  std::set<std::pair<experiment::Stage, std::string>> seen;
  result.stages.resize(experiment::stage_count());
  std::vector<std::uint64_t> stored(experiment::stage_count());
  const std::uint64_t asked = std::min(plan.runs(), most_runs_asked);
  for (std::uint64_t i = 0; i < asked; ++i) {
    // Evenly spaced: i · runs / asked, without overflow for any number of runs of a plan.
    const std::uint64_t run = i * (plan.runs() / asked) + i * (plan.runs() % asked) / asked;
    std::vector<experiment::StageForecast> stages;
    try {
      stages = evaluator.forecast(experiment::complete(plan.settings(run)));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) {
        throw;
      }
      if (result.runs_not_judged++ == 0) {
        result.first_reason = error.what();
      }
      continue;
    }
    ++result.runs_asked;
    for (const experiment::StageForecast& stage : stages) {
      const auto index = experiment::index_of(stage.stage);
      if (!seen.emplace(stage.stage, stage.key).second) {
        continue;
      }
      StageNeed& need = result.stages[index];
      ++need.asked;
      need.memory_bytes = std::max(need.memory_bytes, stage.memory_bytes);
      stored[index] += stage.stored || stage.kept ? 1U : 0U;
    }
    result.run_memory_bytes = std::max(result.run_memory_bytes, experiment::memory_of(stages));
  }
  for (std::size_t i = 0; i < experiment::stage_count(); ++i) {
    StageNeed& need = result.stages[i];
    need.results = plan.stages()[i];
    if (need.asked > 0) {
      need.stored = static_cast<double>(stored[i]) / static_cast<double>(need.asked);
    }
  }
  return result;
}

output::Table forecast_table(const SweepForecast& forecast) {
  output::Table table;
  table.columns = {{"stage", "stage"},
                   {"results", "different results"},
                   {"stored_share", "there already", output::Show::Percent, 0},
                   {"memory_bytes", "memory of one (bytes)"},
                   {"asked", "asked about", output::Show::Plain, 0, true}};
  for (std::size_t i = 0; i < experiment::stage_count(); ++i) {
    const StageNeed& need = forecast.stages[i];
    if (need.results > 0) {
      table.rows.push_back({std::string(experiment::to_string(static_cast<experiment::Stage>(i))), need.results,
                            need.stored, need.memory_bytes, need.asked});
    }
  }
  return table;
}

}  // namespace rayreplay::app
