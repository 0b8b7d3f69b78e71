// A trace in memory as an experiment, for tests of what stages give beside their numbers.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/evaluator.hpp"

namespace rayreplay::test {

/// `assignments`: "KEY=VALUE".
inline experiment::Settings settings_of(const std::vector<std::string>& assignments) {
  experiment::Settings settings;
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings, experiment::NamedInput::Elsewhere);
}

struct Opened {
  explicit Opened(trace::Trace trace, const std::vector<std::string>& assignments = {},
                  Accelerator* accelerator = nullptr)
      : settings(settings_of(assignments)),
        data(std::make_shared<const experiment::InputData>(
            experiment::InputData{.trace = std::move(trace), .records = {}})),
        evaluator({nullptr, 0}),
        bench(evaluator.workbench(accelerator, nullptr)),
        experiment(experiment::Evaluator::open(settings, data, "test")) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  experiment::Settings settings;
  std::shared_ptr<const experiment::InputData> data;
  experiment::Evaluator evaluator;
  experiment::Workbench bench;
  experiment::Experiment experiment;
};

}  // namespace rayreplay::test
