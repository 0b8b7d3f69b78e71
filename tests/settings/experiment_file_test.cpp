#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "sim/settings/settings.hpp"
#include "tests/settings/expect_usage.hpp"

namespace rayreplay::experiment {
namespace {

using test::expect_usage;

Settings parse(const std::string& toml, const std::string& folder = "") {
  return parse_experiment(toml, "e.toml", folder);
}

std::vector<std::pair<std::string, ParameterValue>> file_values(const Settings& settings) {
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (const auto& [key, setting] : settings.all()) {
    result.emplace_back(key, setting.value);
  }
  return result;
}

TEST(ExperimentFile, EveryFormOfAKey) {
  const Settings settings = parse(R"(
trace = "t.rrt"
outputs = ["cache", "simt"]
cache.l1.bytes = "64KiB"
"cache.l1.ways" = 8
machine = { name = "h200", sms = 4 }
[cache.l2]
bytes = 4096
[scheduler]
model = "ser"
"model:pool" = 2
hints = ["a:4=1", "b:4=2"]
[costs]
metal = 20
"a b" = 3
[shader_costs]
metal = 40
closest-hit = "40:400"
)");
  EXPECT_EQ(settings.text("outputs"), "simt,cache");
  EXPECT_EQ(settings.integer("cache.l1.bytes"), 65536);
  EXPECT_EQ(settings.integer("cache.l1.ways"), 8);
  EXPECT_EQ(settings.text("machine.name"), "h200");
  EXPECT_EQ(settings.integer("machine.sms"), 4);
  EXPECT_EQ(settings.integer("cache.l2.bytes"), 4096);
  EXPECT_EQ(settings.text("scheduler.hints"), "a:4=1;b:4=2");
  EXPECT_TRUE(settings.has("scheduler.model:pool"));
  EXPECT_EQ(settings.integer("costs.a b"), 3);
  EXPECT_EQ(settings.text("shader_costs.metal"), "40");
  EXPECT_EQ(settings.where("cache.l2.bytes"), "e.toml:8");
}

TEST(ExperimentFile, ShaderCostsMayBeTablesOfCounts) {
  const Settings settings = parse(R"(
[shader_costs]
metal = {issue = 40, latency = 400}
glass = {issue = 40}
sky = {latency = 1500.5}
fog = {blocks = [{instructions = 12, executions = 100}], calls = 50}
water = {times = 1.5}
ice = {times = 2, latency = 400}
mud = "0.5x:80"
)");
  EXPECT_EQ(settings.text("shader_costs.water"), "1.5x");
  EXPECT_EQ(settings.text("shader_costs.ice"), "2x:400");
  EXPECT_EQ(settings.text("shader_costs.mud"), "0.5x:80");
  EXPECT_EQ(settings.text("shader_costs.metal"), "40:400");
  EXPECT_EQ(settings.text("shader_costs.glass"), "40");
  EXPECT_EQ(settings.text("shader_costs.sky"), ":1500.5");
  EXPECT_EQ(settings.text("shader_costs.fog"), "24");
  EXPECT_EQ(file_values(parse(to_toml(settings, false))), file_values(settings));
  expect_usage([] { static_cast<void>(parse("[shader_costs]\nmetal = {issue = -1}\n")); }, {"e.toml", "metal"});
  expect_usage([] { static_cast<void>(parse("[shader_costs]\nmetal = {isue = 1, calls = 2}\n")); }, {"e.toml", "isue"});
  expect_usage([] { static_cast<void>(parse("[shader_costs]\nmetal = {issue = 1, times = 2}\n")); },
               {"e.toml", "times", "either a factor, or the instructions"});
  expect_usage([] { static_cast<void>(parse("[shader_costs]\nmetal = {times = -2}\n")); }, {"e.toml", "times"});
}

TEST(ExperimentFile, MistakesAreNamedWithTheirLine) {
  expect_usage([] { static_cast<void>(parse("trace = \"t\"\n[cache.l1]\nbyte = 1\n")); },
               {"e.toml:3", "'cache.l1.byte'", "did you mean 'cache.l1.bytes'?"});
  expect_usage([] { static_cast<void>(parse("[cahce]\n")); }, {"e.toml:1", "unknown key", "'cahce'"});
  expect_usage([] { static_cast<void>(parse("[packing]\n")); }, {"e.toml:1", "'packing'"});
  expect_usage([] { static_cast<void>(parse("\nlaunch = \"x\"\n")); }, {"e.toml:2, launch", "'x'"});
  expect_usage([] { static_cast<void>(parse("launch = [1]\n")); }, {"e.toml:1, launch", "wrong type"});
  expect_usage([] { static_cast<void>(parse("outputs = [1]\n")); }, {"e.toml:1, outputs", "a list of texts"});
  expect_usage([] { static_cast<void>(parse("launch = 2020-01-01\n")); }, {"e.toml:1, launch", "wrong type"});
  expect_usage([] { static_cast<void>(parse("launch = \n")); }, {"not TOML", "e.toml:1"});
  expect_usage([] { static_cast<void>(parse("costs = 3\n")); }, {"e.toml:1", "'costs'"});
  expect_usage([] { static_cast<void>(complete(parse("trace = \"t\"\npacking = \"randon\"\n"))); },
               {"e.toml:2, packing", "did you mean 'random'?"});
}

TEST(ExperimentFile, PathsAreRelativeToTheFile) {
  const Settings settings =
      parse("trace = \"../t.rrt\"\nmachine.name = \"m.toml\"\nscheduler.hint_files = \"a:4=h.bin;b:4=/x/h.bin\"\n",
            "/data/runs");
  EXPECT_EQ(settings.text("trace"), "/data/t.rrt");
  EXPECT_EQ(settings.text("machine.name"), "/data/runs/m.toml");
  EXPECT_EQ(settings.text("scheduler.hint_files"), "a:4=/data/runs/h.bin;b:4=/x/h.bin");
  EXPECT_EQ(parse("trace = \"/t.rrt\"\nmachine.name = \"h200\"\n", "/data").text("trace"), "/t.rrt");
  EXPECT_EQ(parse("machine.name = \"h200\"\n", "/data").text("machine.name"), "h200");
  EXPECT_EQ(parse("trace = \"t.rrt\"\n").text("trace"), "t.rrt");
}

TEST(ExperimentFile, WhatIsWrittenReadsAsTheSame) {
  Settings settings = parse(R"(
trace = "with \"quotes\" and \\.rrt"
machine.name = "arc-a770"
machine.dram_bytes_per_second = 123456789012.5
machine.reorder_cycles = 0.1
packing = "random"
"packing:seed" = 12
[costs]
"a b.c" = 3
closest-hit = 4
[shader_costs]
"x:y" = "1.5:20"
)");
  const Settings full = complete(settings);
  for (const bool commented : {false, true}) {
    const std::string text = to_toml(full, commented);
    EXPECT_EQ(file_values(parse(text)), file_values(full)) << text;
    EXPECT_EQ(file_values(complete(parse(text))), file_values(full));
    EXPECT_EQ(to_toml(parse(text), commented), text);
    EXPECT_EQ(text.find('#') != std::string::npos, commented);
  }
  // Also before it is complete, with the parameters of specs apart.
  const std::string asked = to_toml(settings, false);
  EXPECT_EQ(file_values(parse(asked)), file_values(settings)) << asked;
}

TEST(ExperimentFile, DamagedTextIsAnErrorOrAnExperimentNothingElse) {
  Settings settings;
  settings.set("trace", std::string("t.rrt"), "");
  const std::string good = to_toml(complete(settings), true);
  std::uint64_t drawn = 0;
  const auto next = [&drawn](std::size_t below) { return static_cast<std::size_t>(split_mix(7, drawn++) % below); };
  std::size_t refused = 0, taken = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      const std::size_t at = next(text.size());
      switch (next(4)) {
        case 0:
          text[at] = static_cast<char>(next(256));
          break;
        case 1:
          text.erase(at, next(40));
          break;
        case 2:
          text.insert(at, text.substr(next(text.size()), next(40)));
          break;
        default:
          text.insert(at, 1, "\"[]{}=.\n"[next(9)]);
          break;
      }
    }
    try {
      const Settings read = complete(parse(text));
      EXPECT_EQ(file_values(complete(parse(to_toml(read, false)))), file_values(read));
      ++taken;
    } catch (const Error& error) {
      // Input: a machine's file that is not there.
      EXPECT_TRUE(error.kind() == ErrorKind::Usage || error.kind() == ErrorKind::Input) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(taken, 100U);
}

TEST(ExperimentFile, UnitsAndMeaningAsComments) {
  Settings settings;
  settings.set("trace", std::string("t.rrt"), "");
  const std::string text = to_toml(complete(settings), true);
  EXPECT_NE(text.find("\n[cache.l1]\nbytes = 131072  # bytes: Size of the analysed L1"), std::string::npos) << text;
  EXPECT_EQ(text.find("trace = \"t.rrt\"  # Trace"), 0U) << text;
}

}  // namespace
}  // namespace rayreplay::experiment
