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

}  // namespace
}  // namespace rayreplay::workloads
