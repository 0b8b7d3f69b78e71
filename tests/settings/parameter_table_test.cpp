#include "sim/settings/parameter_table.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/registry.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/metrics.hpp"
#include "tests/settings/expect_usage.hpp"

namespace rayreplay::experiment {
namespace {

TEST(ParameterTable, KeysAreUniqueDocumentedAndWithinTheirRange) {
  std::set<std::string> seen;
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    const Parameter& declared = parameter.declared;
    EXPECT_TRUE(seen.insert(declared.name).second) << declared.name;
    EXPECT_FALSE(declared.text.empty()) << declared.name;
    EXPECT_NE(declared.text.back(), '.') << declared.name;
    if (const auto* number = std::get_if<std::int64_t>(&declared.default_value)) {
      EXPECT_LE(declared.minimum, static_cast<double>(*number)) << declared.name;
      EXPECT_GE(declared.maximum, static_cast<double>(*number)) << declared.name;
    }
    if (!parameter.inherits.empty() && parameter.inherits != "machine") {
      EXPECT_NE(find_parameter(parameter.inherits), nullptr) << declared.name;
      // Inherited values come before those that inherit them.
      EXPECT_TRUE(seen.contains(parameter.inherits)) << declared.name;
    }
    EXPECT_EQ(parameter.is_open, declared.name.ends_with(".*"));
    if (declared.name != "outputs") {
      EXPECT_NE(parameter.read_by, 0U) << declared.name;
    }
  }
}

TEST(ParameterTable, FlagsAreUniqueAndShown) {
  std::set<std::string> seen;
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    if (parameter.flag.empty()) {
      continue;
    }
    EXPECT_TRUE(seen.insert(parameter.flag).second) << parameter.flag;
    EXPECT_TRUE(parameter.flag.starts_with("--")) << parameter.declared.name;
    EXPECT_FALSE(parameter.group.empty()) << parameter.flag;
    EXPECT_EQ(parameter.type.empty(), parameter.is_switch()) << parameter.flag;
  }
  for (const Shorthand& shorthand : shorthands()) {
    EXPECT_TRUE(seen.insert(shorthand.flag).second) << shorthand.flag;
    for (const std::string& key : shorthand.keys) {
      EXPECT_NE(find_parameter(key), nullptr) << shorthand.flag << " " << key;
    }
  }
}

TEST(ParameterTable, NamesOfFormerFilesAreSaidWithWhatTookTheirPlace) {
  for (const auto& [old, now] : {std::pair{"packings", "packing"},
                                 {"swizzles", "--swizzle FILE"},
                                 {"models", "scheduler.model"},
                                 {"machine", "machine.name"},
                                 {"start_packing", "packing"},
                                 {"steps_per_ray", "scheduler.steps_per_ray"},
                                 {"hint_files", "scheduler.hint_files"},
                                 {"cache.sms", "machine.sms"},
                                 {"cache.l1", "cache.l1.bytes"},
                                 {"cache.l1_model", "cache.l1.model"},
                                 {"cache.resident_warps", "schedule.resident_warps"},
                                 {"cache.builder", "bvh.builder"},
                                 {"cache.payload_bytes", "stream.payload_bytes"},
                                 {"cache.warp_traversal", "traversal.warp"}}) {
    test::expect_usage([old = old] { unknown_key(old, "c.toml:3"); }, {"unknown key", "c.toml:3", old, now});
  }
}

TEST(ParameterTable, KeysAreReadByTheirStages) {
  EXPECT_TRUE(is_read(*find_parameter("packing"), stages_named("assignment")));
  EXPECT_FALSE(is_read(*find_parameter("packing"), stages_named("cache, simt")));
  EXPECT_TRUE(is_read(*find_parameter("cache.windows"), stages_named("reuse")));
  EXPECT_TRUE(is_read(*find_parameter("launch"), stages_named("classification"))) << "the stage names the key";
  EXPECT_FALSE(is_read(*find_parameter("outputs"), ~StageMask{0}));
}

TEST(ParameterTable, KeysThatDecideOnNoMetricAreOfACommand) {
  EXPECT_EQ(command_of(find_parameter("cache.windows")->read_by), "cache");
  EXPECT_EQ(command_of(find_parameter("explain.slack")->read_by), "explain");
  EXPECT_EQ(command_of(find_parameter("launch")->read_by), "");
  EXPECT_EQ(command_of(find_parameter("cache.l1.bytes")->read_by), "");
}

TEST(ParameterTable, KindsOfModelsAreKnown) {
  std::set<std::string> kinds;
  for (const ModelDescription& model : all_models()) {
    kinds.insert(model.kind);
  }
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    if (!parameter.model_kind.empty() && parameter.model_kind != "workload") {
      EXPECT_TRUE(kinds.contains(parameter.model_kind)) << parameter.declared.name << " " << parameter.model_kind;
    }
  }
}

TEST(ParameterTable, EveryNumberOfAMachineIsAKeyWithTheRangeOfMachineFiles) {
  const std::set<std::string> texts = {"name", "vendor", "architecture"};
  std::istringstream lines(machine::to_toml(machine::Machine{}));
  std::size_t numbers = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(' '));
    if (texts.contains(key)) {
      continue;
    }
    const ExperimentParameter* parameter = find_parameter("machine." + key);
    ASSERT_NE(parameter, nullptr) << key;
    ++numbers;
    const Parameter& declared = parameter->declared;
    if (std::holds_alternative<bool>(declared.default_value)) {
      continue;
    }
    const bool whole = std::holds_alternative<std::int64_t>(declared.default_value);
    const auto file = [&](double value) {
      std::ostringstream text;
      text.precision(17);
      if (key == "withheld_sms") {
        text << "sms = 4096\nreorders = true\n";
      }
      const char* const together = key == "rt_boxes_per_cycle"       ? "rt_triangles_per_cycle"
                                   : key == "rt_triangles_per_cycle" ? "rt_boxes_per_cycle"
                                                                     : nullptr;
      if (together != nullptr) {
        text << together << (value > 0 ? " = 1\n" : " = 0\n");
      }
      if (key.ends_with("_latency_cycles") && !key.starts_with("rt_")) {
        text << "l1_bytes = 0\nl2_bytes = 0\n";  // one level: latencies have an order
      }
      text << key << " = ";
      if (whole) {
        text << static_cast<std::int64_t>(value);
      } else {
        text << std::scientific << value;
      }
      return text.str();
    };
    EXPECT_NO_THROW(static_cast<void>(machine::parse_machine(file(declared.minimum), "m"))) << key;
    EXPECT_NO_THROW(static_cast<void>(machine::parse_machine(file(declared.maximum), "m"))) << key;
    const double step = whole ? 1 : declared.minimum * 1e-6 + 1e-9;
    EXPECT_THROW(static_cast<void>(machine::parse_machine(file(declared.minimum - step), "m")), Error) << key;
    EXPECT_THROW(static_cast<void>(machine::parse_machine(file(declared.maximum * (1 + 1e-9) + (whole ? 1 : 0)), "m")),
                 Error)
        << key;
  }
  EXPECT_EQ(numbers, machine_parameters().size());
}

TEST(ParameterTable, KeysAreFoundWithAndWithoutParameters) {
  EXPECT_EQ(find_parameter("packing")->declared.name, "packing");
  EXPECT_EQ(find_parameter("packing:seed")->declared.name, "packing");
  EXPECT_EQ(find_parameter("costs.metal")->declared.name, "costs.*");
  EXPECT_EQ(find_parameter("costs.a:b.c")->declared.name, "costs.*");
  for (const char* unknown : {"", "costs", "costs.", "packing:", "Packing", "cache", "cache.l1", "shader_costs"}) {
    EXPECT_EQ(find_parameter(unknown), nullptr) << unknown;
  }
}

TEST(ParameterTable, StagesAreAGraphWithoutCircles) {
  for (std::size_t i = 0; i < stage_count(); ++i) {
    const auto stage = static_cast<Stage>(i);
    const StageMask inputs = inputs_of(stage);
    EXPECT_EQ(inputs & bit(stage), 0U);
    for (std::size_t j = 0; j < stage_count(); ++j) {
      const auto other = static_cast<Stage>(j);
      if ((inputs & bit(other)) != 0) {
        // What it takes, with what that takes.
        EXPECT_EQ(inputs & inputs_of(other), inputs_of(other)) << to_string(stage);
        EXPECT_NE(with_dependents(bit(other)) & bit(stage), 0U) << to_string(stage);
      }
    }
  }
  EXPECT_EQ(with_dependents(stages_named("cache")), stages_named("cache"));
  EXPECT_EQ(with_dependents(stages_named("input")), (StageMask{1} << stage_count()) - 1);
  EXPECT_EQ(with_dependents(stages_named("structure")),
            stages_named("structure, model, traversal, regrouping, stream, cache, time, traffic, reuse"));
  EXPECT_THROW(static_cast<void>(stage("no-such-stage")), Error);
}

/// A misspelt name would leave the value out of the stage's key without any error.
TEST(ParameterTable, StagesReadDeclaredKeysAndKeysNameRegisteredStages) {
  for (const StageInfo& info : all_stages()) {
    for (const std::string& key : info.reads) {
      const std::string table = key.ends_with(".*") ? key.substr(0, key.size() - 1) : std::string();
      EXPECT_TRUE(std::ranges::any_of(experiment_parameters(),
                                      [&](const ExperimentParameter& parameter) {
                                        const std::string& name = parameter.declared.name;
                                        return name == key || (!table.empty() && name.starts_with(table));
                                      }))
          << info.name << " reads " << key;
    }
  }
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    EXPECT_NO_THROW(static_cast<void>(stages_named(parameter.readers))) << parameter.declared.name;
  }
}

TEST(Metrics, NamesAreUniqueAndNoKeys) {
  std::set<std::string> outputs;
  for (const Stage stage : output_stages()) {
    outputs.insert(to_string(stage));
  }
  std::set<std::string> seen;
  for (const Metric& metric : all_metrics()) {
    EXPECT_TRUE(seen.insert(metric.name).second) << metric.name;
    EXPECT_EQ(find_parameter(metric.name), nullptr) << metric.name;
    EXPECT_TRUE(outputs.contains(metric.output)) << metric.name;
    EXPECT_FALSE(metric.text.empty()) << metric.name;
    EXPECT_EQ(&find_metric(metric.name), &metric);
  }
  test::expect_usage([] { static_cast<void>(find_metric("l1_hitrate")); },
                     {"unknown metric", "did you mean 'l1_hit_rate'?"});
}

}  // namespace
}  // namespace rayreplay::experiment
