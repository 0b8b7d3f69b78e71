// Experiments evaluated one by one: settings from assignments, metrics by name, keys of stages.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/settings/stage.hpp"

namespace rayreplay::test {

using experiment::Evaluator;
using experiment::Outcome;
using experiment::Settings;
using experiment::Stage;

inline std::string path_of(const std::string& name) {
  return (std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "tests/data/h200" / name).string();
}

inline Settings of(const std::string& trace, const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set("trace", trace, "test");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings);
}

inline Settings of_workload(const std::string& spec, const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set("workload", spec, "test");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings);
}

inline Outcome evaluated(const Settings& settings, experiment::Store* store = nullptr) {
  Evaluator evaluator({.store = store});
  Outcome outcome = evaluator.evaluate({&settings, 1}).front();
  EXPECT_FALSE(outcome.failure) << (outcome.failure ? format_error(outcome.failure->info) : "");
  return outcome;
}

inline std::optional<double> metric(const Outcome& outcome, const std::string& name) {
  for (const auto& [other, value] : outcome.metrics) {
    if (other == name) {
      return value;
    }
  }
  return std::nullopt;
}

inline double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

inline std::string key_of(Evaluator& evaluator, const Settings& settings, Stage stage) {
  for (const experiment::StageForecast& one : evaluator.forecast(settings)) {
    if (one.stage == stage) {
      return one.key;
    }
  }
  return "";
}

}  // namespace rayreplay::test
