// Does the engine of experiments find every known answer, all of them asked at once?
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine/evaluator.hpp"
#include "sim/settings/metrics.hpp"
#include "tests/workloads/specs.hpp"

namespace rayreplay::workloads {
namespace {

TEST(Engine, FindsEveryKnownAnswer) {
  std::vector<KnownAnswer> answers;
  std::vector<std::string> specs;
  std::vector<experiment::Settings> configurations;
  for (const std::string& spec : test::all_specs()) {
    for (const KnownAnswer& known : Workloads::create(spec).model->answers(machine::load_machine("rtx4090"))) {
      ASSERT_EQ(known.unknown, "") << spec << ": the default machine gives every answer";
      experiment::Settings settings;
      settings.set("workload", spec, "test");
      settings.set("outputs", experiment::find_metric(known.metric).output, "test");
      for (const auto& [key, value] : known.settings) {
        settings.set(key, value, "test");
      }
      configurations.push_back(experiment::complete(settings));
      answers.push_back(known);
      specs.push_back(spec);
    }
  }
  experiment::Evaluator evaluator({});
  const std::vector<experiment::Outcome> outcomes = evaluator.evaluate(configurations);
  ASSERT_EQ(outcomes.size(), answers.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const experiment::Outcome& outcome = outcomes[i];
    ASSERT_FALSE(outcome.failure) << specs[i] << ": " << format_error(outcome.failure->info);
    const auto found = std::ranges::find(outcome.metrics, answers[i].metric, &std::pair<std::string, double>::first);
    ASSERT_NE(found, outcome.metrics.end()) << specs[i] << ": " << answers[i].metric;
    EXPECT_TRUE(agrees(answers[i], found->second))
        << specs[i] << ": " << answers[i].metric << " is " << found->second << ", known " << answers[i].value;
  }
}

experiment::Outcome outcome_of(const std::vector<std::pair<std::string, std::string>>& keys) {
  experiment::Settings settings;
  for (const auto& [key, value] : keys) {
    settings.set(key, value, "test");
  }
  const experiment::Settings complete = experiment::complete(settings);
  experiment::Evaluator evaluator({});
  return evaluator.evaluate({&complete, 1}).front();
}

TEST(Engine, WarpsNeedMemoryTime) {
  const experiment::Outcome refused = outcome_of({{"workload", "littles-law"}, {"outputs", "cache"}});
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->kind, ErrorKind::Usage);
  EXPECT_NE(format_error(refused.failure->info).find("schedule.time=memory"), std::string::npos);
  const experiment::Outcome no_threads = outcome_of({{"workload", "littles-law"}, {"outputs", "simt"}});
  ASSERT_TRUE(no_threads.failure);
  EXPECT_EQ(no_threads.failure->kind, ErrorKind::Missing);
}

/// Memory time of warps depends on the machine, its schedule, and nothing else.
TEST(Engine, WarpsFollowTheMachine) {
  const auto cycles = [](const std::string& key, const std::string& value) {
    const experiment::Outcome outcome = outcome_of(
        {{"workload", "pointer-chase:loads=10"}, {"outputs", "time"}, {"schedule.time", "memory"}, {key, value}});
    EXPECT_FALSE(outcome.failure);
    return outcome.metrics.front().second;
  };
  EXPECT_EQ(cycles("machine.dram_latency_cycles", "500"), 5000);
  EXPECT_EQ(cycles("machine.dram_latency_cycles", "900"), 9000);
  const double now = cycles("machine.name", "rtx4090");
  EXPECT_EQ(cycles("schedule.compute_cycles", "3"), now + 9 * 3);
  EXPECT_EQ(cycles("packing", "random"), now);
}

}  // namespace
}  // namespace rayreplay::workloads
