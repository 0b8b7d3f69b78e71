#include "app/report/context/experiment_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"
#include "sim/settings/metrics.hpp"

namespace rayreplay::report {
namespace {

using experiment::Goal;
using experiment::Metric;
using experiment::Outcome;
using experiment::Settings;
using experiment::StageForecast;

const char* goal_text(Goal goal) {
  return goal == Goal::More ? "more" : goal == Goal::Less ? "less" : "";
}

/// "trace" or "workload", and its value.
std::pair<std::string, std::string> input_of(const Settings& settings) {
  const char* const key = settings.text("trace").empty() ? "workload" : "trace";
  return {key, settings.text(key)};
}

const char* state_of(const StageForecast& stage) {
  // Inputs are not computed if their results exist.
  return stage.stored ? "on disk" : stage.kept ? "in memory" : stage.needed ? "to compute" : "not needed";
}

nlohmann::ordered_json start_json(const char* schema) {
  return {{"schema", schema}, {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}}};
}

}  // namespace

std::string metric_text(double value, const std::string& unit) {
  if (!std::isfinite(value)) {
    return "";
  }
  if (unit == "share") {
    return fmt::format("{:.2f} %", value * 100);
  }
  if (value == std::floor(value) && value >= 0 && value < kMaxExact) {
    return with_separators(static_cast<std::uint64_t>(value));
  }
  constexpr double kLarge = 1000;
  return std::abs(value) >= kLarge ? with_separators(static_cast<std::uint64_t>(std::llround(std::abs(value))))
                                         .insert(0, value < 0 ? "-" : "")
                                   : fmt::format("{:.4g}", value);
}

output::Table metrics_table(const Outcome& outcome) {
  output::Table table;
  table.columns = {{"metric", "metric"}, {"value", "value"}, {"unit", "unit"},
                   {"output", "output"}, {"goal", "goal"},   {"text", "meaning"}};
  for (const auto& [name, value] : outcome.metrics) {
    const Metric& metric = experiment::find_metric(name);
    table.rows.push_back({name, value, metric.unit, metric.output, std::string(goal_text(metric.goal)), metric.text});
  }
  return table;
}

std::string experiment_text(const Settings& settings, const Outcome& outcome) {
  const auto [key, input] = input_of(settings);
  output::Table table;
  table.columns = {{"metric", "metric"}, {"value", "value"}, {"unit", "unit"}, {"text", "meaning"}};
  std::size_t width = 0;
  for (const auto& [name, value] : outcome.metrics) {
    width = std::max(width, metric_text(value, experiment::find_metric(name).unit).size());
  }
  for (const auto& [name, value] : outcome.metrics) {
    const Metric& metric = experiment::find_metric(name);
    // Numbers to the right, as in columns of numbers.
    table.rows.push_back({name, fmt::format("{:>{}}", metric_text(value, metric.unit), width),
                          metric.unit == "share" ? std::string() : metric.unit, metric.text});
  }
  return fmt::format("{:<9} {}\n{:<9} {}\n{:<9} {}\n{:<9} {}\n\n{}", key, text::printable(input), "hash",
                     outcome.trace_hash, "outputs", settings.text("outputs"), "device", outcome.device,
                     output::to_text(table));
}

output::Table experiment_rows(const Settings& settings, const Outcome& outcome) {
  const auto [key, input] = input_of(settings);
  return with_cells(metrics_table(outcome), {{"input", input},
                                             {"trace_hash", outcome.trace_hash},
                                             {"tool_version", std::string(RAYREPLAY_VERSION)},
                                             {"device", outcome.device}});
}

nlohmann::ordered_json settings_json(const Settings& settings) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  const auto add = [&result](const std::string& key, const ParameterValue& value) {
    std::visit([&](const auto& plain) { result[key] = plain; }, value);
  };
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    const std::string& name = parameter.declared.name;
    if (!parameter.is_open) {
      if (settings.has(name)) {
        add(name, settings.at(name));
      }
      continue;
    }
    const std::string table = name.substr(0, name.size() - 2);
    for (const auto& [key, value] : experiment::open_table(settings, table)) {
      add(fmt::format("{}.{}", table, key), value);
    }
  }
  return result;
}

nlohmann::ordered_json experiment_json(const Settings& settings, const Outcome& outcome) {
  const auto [key, input] = input_of(settings);
  nlohmann::ordered_json document = start_json("rayreplay.run/1");
  document["device"] = outcome.device;
  document["input"] = {{"kind", key}, {"name", input}, {"hash", outcome.trace_hash}};
  document["configuration"] = settings_json(settings);
  document["resolved"] = outcome.configuration;
  document["rows"] = to_json(metrics_table(outcome));
  return document;
}

output::Table forecast_table(const std::vector<StageForecast>& stages) {
  output::Table table;
  table.columns = {{"stage", "stage"}, {"key", "key"}, {"state", "state"}, {"memory_bytes", "memory, bytes"}};
  for (const StageForecast& stage : stages) {
    table.rows.push_back(
        {std::string(to_string(stage.stage)), stage.key, std::string(state_of(stage)), stage.memory_bytes});
  }
  return table;
}

std::string forecast_text(const std::vector<StageForecast>& stages) {
  const auto there = std::ranges::count_if(stages, [](const StageForecast& one) { return one.stored || one.kept; });
  return fmt::format("{}\n{} stages, {} of them there; about {} of memory in all\n",
                     output::to_text(forecast_table(stages)), stages.size(), there,
                     output::bytes_text(experiment::memory_of(stages)));
}

nlohmann::ordered_json forecast_json(const Settings& settings, const std::vector<StageForecast>& stages) {
  nlohmann::ordered_json document = start_json("rayreplay.forecast/2");
  document["configuration"] = settings_json(settings);
  document["rows"] = to_json(forecast_table(stages));
  return document;
}

}  // namespace rayreplay::report
