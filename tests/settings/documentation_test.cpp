// docs/experiments.md says what the registration says.
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/settings/key_readers.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {
namespace {

std::string document() {
  std::ostringstream text;
  text << std::ifstream(RAYREPLAY_SOURCE_DIR "/docs/experiments.md").rdbuf();
  return text.str();
}

std::string values_of(const ExperimentParameter& parameter) {
  const Parameter& declared = parameter.declared;
  if (!parameter.model_kind.empty()) {
    return "spec of a " + parameter.model_kind;
  }
  if (!declared.choices.empty()) {
    return fmt::format("{}", fmt::join(declared.choices, ", "));
  }
  if (std::holds_alternative<bool>(declared.default_value)) {
    return "true, false";
  }
  return std::isfinite(declared.minimum) ? fmt::format("{} to {}", declared.minimum, declared.maximum) : "text";
}

std::string keys() {
  std::string text =
      "| key | flag | default | unit | values | read by | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    const Parameter& declared = parameter.declared;
    const std::string plain = to_text(declared.default_value);
    const std::string value = parameter.is_open                                               ? ""
                              : parameter.inherits.empty() || parameter.inherits == "machine" ? plain
                                                                                              : parameter.inherits;
    const auto code = [](const std::string& word) { return word.empty() ? "" : "`" + word + "`"; };
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", declared.name, code(parameter.flag), code(value),
                        declared.unit, values_of(parameter), readers_of(parameter), declared.text);
  }
  return text;
}

std::string metrics() {
  std::string text = "| metric | output | unit | better | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Metric& metric : all_metrics()) {
    text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", metric.name, metric.output, metric.unit,
                        metric.goal == Goal::More   ? "more"
                        : metric.goal == Goal::Less ? "less"
                                                    : "",
                        metric.text);
  }
  return text;
}

TEST(Documentation, EveryKeyOfAnExperiment) {
  EXPECT_NE(document().find("\n" + keys() + "\n"), std::string::npos) << "the table is now\n" << keys();
}

TEST(Documentation, EveryShorthand) {
  for (const Shorthand& shorthand : shorthands()) {
    EXPECT_NE(document().find("`" + shorthand.flag + " " + shorthand.type + "`: " + shorthand.text), std::string::npos)
        << shorthand.flag;
  }
}

TEST(Documentation, EveryMetric) {
  EXPECT_NE(document().find("\n" + metrics() + "\n"), std::string::npos) << "the table is now\n" << metrics();
}

}  // namespace
}  // namespace rayreplay::experiment
