#include "app/commands/sweep_forecast.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace rayreplay::app {

SweepForecast forecast_sweep(const sweep::Plan& plan, experiment::Evaluator& evaluator, std::uint64_t most_runs_asked) {
  SweepForecast result;
  std::set<std::pair<experiment::Stage, std::string>> seen;
  std::array<std::uint64_t, experiment::kStages> stored{};
  std::array<double, experiment::kStages> seconds{};
  const std::uint64_t asked = std::min(plan.runs(), most_runs_asked);
  for (std::uint64_t i = 0; i < asked; ++i) {
    // Spread evenly: i · runs / asked, without overflow for any number of runs that a plan has.
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
      const auto index = static_cast<std::size_t>(stage.stage);
      if (!seen.emplace(stage.stage, stage.key).second) {
        continue;
      }
      StageCost& cost = result.stages[index];
      ++cost.asked;
      cost.memory_bytes = std::max(cost.memory_bytes, stage.memory_bytes);
      stored[index] += stage.stored || stage.kept ? 1U : 0U;
      seconds[index] += stage.seconds;
    }
    result.run_memory_bytes = std::max(result.run_memory_bytes, experiment::memory_of(stages));
  }
  for (std::size_t i = 0; i < experiment::kStages; ++i) {
    StageCost& cost = result.stages[i];
    cost.results = plan.stages()[i];
    if (cost.asked > 0) {
      cost.stored = static_cast<double>(stored[i]) / static_cast<double>(cost.asked);
      cost.seconds = seconds[i] / static_cast<double>(cost.asked) * static_cast<double>(cost.results);
    }
    result.seconds += cost.seconds;
  }
  return result;
}

output::Table forecast_table(const SweepForecast& forecast) {
  output::Table table;
  table.columns = {{"stage", "stage"},
                   {"results", "different results"},
                   {"stored_share", "there already", output::Show::Percent, 0},
                   {"seconds", "seconds", output::Show::Plain, 1},
                   {"memory_bytes", "memory of one (bytes)"},
                   {"asked", "asked about", output::Show::Plain, 0, true}};
  for (std::size_t i = 0; i < experiment::kStages; ++i) {
    const StageCost& cost = forecast.stages[i];
    if (cost.results > 0) {
      table.rows.push_back({std::string(experiment::to_string(static_cast<experiment::Stage>(i))), cost.results,
                            cost.stored, cost.seconds, cost.memory_bytes, cost.asked});
    }
  }
  return table;
}

}  // namespace rayreplay::app
