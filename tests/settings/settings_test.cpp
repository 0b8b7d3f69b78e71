#include "sim/settings/settings.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "sim/settings/machine_settings.hpp"
#include "tests/settings/expect_usage.hpp"

namespace rayreplay::experiment {
namespace {

using test::expect_usage;

Settings with(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "--set");
  }
  return settings;
}

Settings completed(std::vector<std::string> assignments) {
  assignments.emplace_back("trace=t.rrt");
  return complete(with(assignments));
}

std::vector<std::pair<std::string, ParameterValue>> values_of(const Settings& settings) {
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (const auto& [key, setting] : settings.all()) {
    result.emplace_back(key, setting.value);
  }
  return result;
}

TEST(Settings, EveryKeyHasAValueOfItsTypeWhenComplete) {
  const Settings settings = completed({});
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    if (parameter.is_open) {
      EXPECT_TRUE(open_table(settings, parameter.declared.name).empty());
      continue;
    }
    ASSERT_TRUE(settings.has(parameter.declared.name)) << parameter.declared.name;
    EXPECT_EQ(settings.at(parameter.declared.name).index(), parameter.declared.default_value.index())
        << parameter.declared.name;
  }
  EXPECT_EQ(settings.text("outputs"), "simt");
  EXPECT_EQ(settings.text("order"), "auto");
  EXPECT_EQ(settings.text("schedule.distribution"), "auto");
  EXPECT_EQ(settings.integer("machine.sms"), 128);
}

TEST(Settings, MinusZeroIsZero) {
  for (const char* zero : {"0", "-0", "-0.0"}) {
    const Settings settings = completed({std::string("machine.rt_test_latency_cycles=") + zero});
    EXPECT_FALSE(std::signbit(settings.real("machine.rt_test_latency_cycles"))) << zero;
    const Settings read = parse_experiment(
        std::string("trace = \"t.rrt\"\n[machine]\nrt_test_latency_cycles = ") + zero + "\n", "e.toml", "");
    EXPECT_EQ(to_toml(complete(read), false), to_toml(settings, false)) << zero;
  }
}

TEST(Settings, CompletingAgainChangesNothing) {
  const Settings once = completed({"outputs=cache,model", "machine.name=h200", "machine.sms=7", "cache.l1.bytes=64KiB",
                                   "costs.metal=20", "shader_costs.metal=40:400", "scheduler.model=ser", "workload="});
  EXPECT_EQ(values_of(complete(once)), values_of(once));
}

TEST(Settings, OrderOfSettingDoesNotMatter) {
  std::vector<std::string> assignments = {"machine.name=rtx3080",  "machine.l1_bytes=32KiB", "cache.l1.ways=8",
                                          "packing=random:seed=3", "packing:seed=4",         "trace=t.rrt"};
  const auto expected = values_of(complete(with(assignments)));
  std::sort(assignments.begin(), assignments.end());
  do {
    ASSERT_EQ(values_of(complete(with(assignments))), expected);
  } while (std::next_permutation(assignments.begin(), assignments.end()));
}

TEST(Settings, MachinesThatContradictThemselvesAreRefused) {
  const auto refused = [](const std::vector<std::string>& assignments, const std::vector<std::string>& pieces) {
    expect_usage([&] { static_cast<void>(completed(assignments)); }, pieces);
  };
  refused({"machine.software_traversal=true", "machine.rt_rays=8"},
          {"--set, machine.software_traversal", "--set, machine.rt_rays",
           "machine.software_traversal = true and machine.rt_rays = 8",
           "machine.rt_rays = 0, or machine.software_traversal = false"});
  refused({"machine.name=h200", "machine.rt_rays=8"}, {"--set, machine.rt_rays", "without a ray-tracing unit"});
  refused({"machine.name=h200", "machine.rt_boxes_per_cycle=8", "machine.rt_triangles_per_cycle=8"},
          {"machine.rt_boxes_per_cycle = 8"});
  refused({"machine.reorders=false"}, {"--set, machine.reorders", "machine.withheld_sms = 2", "does not reorder"});
  refused({"machine.name=generic", "machine.withheld_sms=1"}, {"set machine.withheld_sms to 0"});
  EXPECT_EQ(completed({"machine.name=generic", "machine.reorders=true", "machine.withheld_sms=1"})
                .integer("machine.withheld_sms"),
            1);
  EXPECT_EQ(completed({"machine.reorders=false", "machine.withheld_sms=0"}).integer("machine.withheld_sms"), 0);
}

TEST(Settings, TextsAreReadAsTheDeclaredType) {
  const Settings settings =
      completed({"cache.l1.bytes=64KiB", "cache.l2.bytes=4MiB", "machine.l2_bytes=1GiB", "machine.clock_mhz=1e3",
                 "stream.coalesce=false", "machine.reorders=false", "machine.withheld_sms=0", "launch=3"});
  EXPECT_EQ(settings.integer("cache.l1.bytes"), 65536);
  EXPECT_EQ(settings.integer("cache.l2.bytes"), 4 << 20);
  EXPECT_EQ(settings.integer("machine.l2_bytes"), 1 << 30);
  EXPECT_EQ(settings.real("machine.clock_mhz"), 1000);
  EXPECT_FALSE(settings.flag("stream.coalesce"));
  EXPECT_FALSE(settings.flag("machine.reorders"));
  EXPECT_EQ(settings.integer("launch"), 3);
}

TEST(Settings, NumbersOfOtherTypesThatMeanTheSame) {
  Settings settings;
  settings.set("cache.l1.ways", 8.0, "");
  EXPECT_EQ(settings.integer("cache.l1.ways"), 8);
  settings.set("machine.clock_mhz", std::int64_t{1500}, "");
  EXPECT_EQ(settings.real("machine.clock_mhz"), 1500);
}

TEST(Settings, LatenciesAreInTheOrderOfTheirLevels) {
  expect_usage(
      [] { (void)completed({"machine.l1_latency_cycles=297"}); },
      {"--set, machine.l1_latency_cycles", "data from farther away comes sooner",
       "machine.l1_latency_cycles = 297, machine.l2_latency_cycles = 296", "raise machine.l2_latency_cycles too"});
  expect_usage(
      [] {
        (void)completed({"machine.l2_latency_cycles=500", "machine.dram_latency_cycles=499"});
      },
      {"--set, machine.l2_latency_cycles; --set, machine.dram_latency_cycles"});
  EXPECT_NO_THROW((void)completed({"machine.l1_latency_cycles=600", "machine.l2_bytes=0"}));
  EXPECT_NO_THROW((void)completed({"machine.l1_latency_cycles=600", "machine.l1_bytes=0"}));
  EXPECT_NO_THROW((void)completed({"machine.l1_latency_cycles=296", "machine.dram_latency_cycles=296"}));
}

TEST(Settings, WrongTypes) {
  Settings settings;
  expect_usage([&] { settings.set("cache.l1.ways", 8.5, "e.toml:3"); },
               {"wrong type", "e.toml:3, cache.l1.ways", "8.5", "a whole number"});
  expect_usage([&] { settings.set("cache.l1.ways", true, "e.toml:3"); }, {"wrong type", "cache.l1.ways"});
  expect_usage([&] { settings.set("stream.coalesce", std::int64_t{1}, ""); }, {"wrong type", "true or false"});
  expect_usage([&] { settings.set("packing", std::int64_t{4}, ""); }, {"wrong type", "packing", "a text"});
  expect_usage([&] { settings.set_text("launch=x", "--set"); }, {"--set, launch", "'x'", "whole number"});
  expect_usage([&] { settings.set_text("launch=", "--set"); }, {"--set, launch"});
  expect_usage([&] { settings.set_text("machine.clock_mhz=fast", "--set"); }, {"machine.clock_mhz", "not a number"});
  EXPECT_TRUE(settings.all().empty());
}

TEST(Settings, UnitsOfBytes) {
  Settings settings;
  for (const char* wrong : {"64KB", "64 KiB", "KiB", "-1KiB", "1.5KiB", "9999999KiB", "64KiBKiB", "0x10", "64kib"}) {
    expect_usage([&] { settings.set("cache.l1.bytes", std::string(wrong), "--set"); },
                 {"cache.l1.bytes", "'" + std::string(wrong) + "'", "64KiB"});
  }
  // Only where the unit is bytes.
  expect_usage([&] { settings.set_text("cache.l1.ways=4KiB", "--set"); }, {"cache.l1.ways", "4KiB"});
}

TEST(Settings, Ranges) {
  Settings settings;
  expect_usage([&] { settings.set_text("machine.sms=0", "--set"); }, {"out of range", "--set, machine.sms", "'0'"});
  expect_usage([&] { settings.set("machine.sms", std::int64_t{4097}, ""); }, {"out of range", "4097", "1 to 4096"});
  expect_usage([&] { settings.set("machine.clock_mhz", std::numeric_limits<double>::quiet_NaN(), ""); },
               {"out of range", "nan"});
  expect_usage([&] { settings.set_text("machine.clock_mhz=inf", "--set"); }, {"out of range"});
  expect_usage([&] { settings.set_text("cache.l1.bytes=99999999999999999999", "--set"); }, {"cache.l1.bytes"});
  expect_usage([&] { settings.set_text("cache.l2_feed=some", "--set"); }, {"cache.l2_feed", "'some'", "all, misses"});
  expect_usage([&] { settings.set_text("costs=4", "--set"); }, {"'costs'", "did you mean 'costs.*'?"});
  expect_usage([&] { settings.set_text("scheduler.cost_source=spriv", "--set"); }, {"did you mean 'spirv'"});
}

TEST(Settings, UnknownKeysNameTheNearest) {
  Settings settings;
  expect_usage([&] { settings.set_text("cache.l1.byte=1", "--set"); },
               {"unknown key", "--set", "'cache.l1.byte'", "did you mean 'cache.l1.bytes'?"});
  expect_usage([&] { settings.set_text("machine.smss=1", "e.toml:4"); }, {"e.toml:4", "did you mean 'machine.sms'?"});
  expect_usage([&] { settings.set_text("machine.rt_step_latency_cycles=40", "--set"); },
               {"did you mean 'machine.rt_test_latency_cycles'?"});
  expect_usage([&] { settings.set_text("sms=1", ""); }, {"did you mean 'machine.sms'?"});
  expect_usage([&] { settings.set_text("l1.bytes=1", ""); }, {"did you mean 'cache.l1.bytes'?"});
  expect_usage([&] { settings.set_text("qqqqqqqq=1", ""); }, {"see rayreplay list keys"});
  expect_usage([&] { settings.set_text("=1", "--set"); }, {"KEY=VALUE", "--set"});
  expect_usage([&] { settings.set_text("cache.l1.bytes", "--set"); }, {"KEY=VALUE", "'cache.l1.bytes'"});
  expect_usage([&] { settings.set_text("costs.=1", "--set"); }, {"unknown key"});
  expect_usage([&] { settings.set_text("packing:=1", "--set"); }, {"unknown key"});
}

TEST(Settings, OneInputAndOnlyOne) {
  expect_usage([] { static_cast<void>(complete(Settings())); }, {"no input", "trace", "workload"});
  expect_usage(
      [] {
        static_cast<void>(complete(with({"trace=t.rrt", "workload=divergence"})));
      },
      {"two inputs", "'divergence'", "'t.rrt'"});
  EXPECT_EQ(complete(with({"trace=t.rrt", "workload="})).text("trace"), "t.rrt");
  EXPECT_TRUE(complete(with({"trace=", "workload=stride"})).text("workload").starts_with("stride:"));
}

TEST(Settings, CachesAreTheMachinesWhereTheyAreNotSet) {
  const Settings settings = completed({"machine.name=rtx3080", "machine.l1_ways=16", "cache.l2.line_bytes=64"});
  EXPECT_EQ(settings.integer("cache.l1.ways"), 16);
  EXPECT_EQ(settings.integer("cache.l1.bytes"), 128 << 10);
  EXPECT_EQ(settings.integer("cache.l2.bytes"), 5242880);
  EXPECT_EQ(settings.integer("cache.l2.line_bytes"), 64);
  EXPECT_EQ(settings.integer("machine.l2_line_bytes"), 128);
}

TEST(Settings, SpecsAreComplete) {
  const Settings settings = completed({"packing=random", "bvh.builder=medium", "cache.l1.model=lru"});
  EXPECT_EQ(settings.text("packing"), "random:seed=1,tiled=false");
  EXPECT_NE(settings.text("cache.l1.model").find("write=through"), std::string::npos);
  EXPECT_NE(settings.text("cache.l1.model").find("allocate=false"), std::string::npos);
  EXPECT_EQ(settings.text("cache.l2.model").find("write=through"), std::string::npos);
  expect_usage([] { static_cast<void>(completed({"packing=randon"})); },
               {"--set, packing", "'randon'", "did you mean 'random'?"});
  expect_usage([] { static_cast<void>(completed({"bvh.layout=wide-9"})); }, {"--set, bvh.layout", "'wide-9'"});
  expect_usage([] { static_cast<void>(completed({"policy=stage-majorty"})); }, {"did you mean 'stage-majority'?"});
}

TEST(Settings, StepsAreEitherGivenOrCounted) {
  EXPECT_EQ(completed({"scheduler.steps_per_ray=9"}).real("scheduler.steps_per_ray"), 9);
  const Settings counted = completed({"scheduler.replay_steps=true"});
  EXPECT_TRUE(complete(counted).flag("scheduler.replay_steps")) << "what is complete stays so";
  EXPECT_NO_THROW(static_cast<void>(completed({"scheduler.steps_per_ray=9", "scheduler.replay_steps=false"})));
  expect_usage(
      [] {
        static_cast<void>(completed({"scheduler.steps_per_ray=9", "scheduler.replay_steps=true"}));
      },
      {"steps are either given or counted", "scheduler.steps_per_ray", "scheduler.replay_steps", "both"});
}

TEST(Settings, ParametersOfSpecs) {
  EXPECT_EQ(completed({"packing=random", "packing:seed=9"}).text("packing"), "random:seed=9,tiled=false");
  EXPECT_EQ(completed({"packing:seed=9", "packing=random:seed=2"}).text("packing"), "random:seed=9,tiled=false");
  Settings settings = with({"trace=t.rrt", "packing=random"});
  settings.set("packing:seed", std::int64_t{5}, "s.toml:2");
  const Settings full = complete(settings);
  EXPECT_EQ(full.text("packing"), "random:seed=5,tiled=false");
  EXPECT_FALSE(full.has("packing:seed"));
  expect_usage(
      [] {
        static_cast<void>(completed({"packing=random", "packing:sed=9"}));
      },
      {"--set, packing:sed", "unknown parameter", "did you mean 'seed'?"});
  expect_usage([] { static_cast<void>(completed({"packing:seed=9"})); },
               {"--set, packing:seed", "packing 'identity'", "no parameters"});
  expect_usage([] { static_cast<void>(with({"cache.l1.bytes:x=1"})); }, {"no parameters", "cache.l1.bytes"});
  expect_usage([] { static_cast<void>(with({"packing:seed=1,x=2"})); }, {"comma", "packing:seed"});
  expect_usage(
      [] {
        static_cast<void>(completed({"packing=random", "packing:seed=x"}));
      },
      {"--set, packing:seed", "'x'"});
}

TEST(Settings, OpenTables) {
  const Settings settings = completed({"costs.closest-hit=20", "costs.a.b=5", "costs.x:y=6", "shader_costs.metal=40",
                                       "shader_costs.4=40:400", "costs.q=r=7"});
  using Values = std::vector<std::pair<std::string, ParameterValue>>;
  EXPECT_EQ(open_table(settings, "costs"), (Values{{"a.b", std::int64_t{5}},
                                                   {"closest-hit", std::int64_t{20}},
                                                   {"q=r", std::int64_t{7}},
                                                   {"x:y", std::int64_t{6}}}));
  EXPECT_EQ(open_table(settings, "shader_costs"), (Values{{"4", std::string("40:400")}, {"metal", std::string("40")}}));
  Settings more;
  more.set("shader_costs.metal", 2.5, "");
  EXPECT_EQ(more.text("shader_costs.metal"), "2.5");
  expect_usage([&] { more.set_text("costs.metal=-1", "--set"); }, {"costs.metal", "'-1'"});
  expect_usage([&] { more.set_text("costs.metal=4294967296", "--set"); }, {"out of range"});
  expect_usage([&] { more.set_text("shader_costs.metal=1:x", "--set"); }, {"--set, shader_costs.metal", "'x'"});
  expect_usage([&] { more.set_text("shader_costs.metal=-1", "--set"); }, {"out of range"});
  more.set_text("shader_costs.metal=1.5x", "--set");
  EXPECT_EQ(more.text("shader_costs.metal"), "1.5x");
  for (const char* wrong : {"shader_costs.metal=x", "shader_costs.metal=1xx", "shader_costs.metal=1:2x",
                            "shader_costs.metal=-1x", "shader_costs.metal=1e9x"}) {
    expect_usage([&] { more.set_text(wrong, "--set"); }, {"--set, shader_costs.metal"});
  }
  expect_usage([&] { more.set_text("shader_costs.metal=1:2:3", "--set"); }, {"shader_costs.metal"});
}

TEST(Settings, ListsOfSpecs) {
  EXPECT_EQ(completed({"explain.enlarged_layouts=none"}).text("explain.enlarged_layouts"), "none");
  EXPECT_EQ(completed({"explain.enlarged_layouts=half-4;quantised-6;half-4"}).text("explain.enlarged_layouts"),
            completed({"explain.enlarged_layouts=half-4;quantised-6"}).text("explain.enlarged_layouts"));
  EXPECT_EQ(completed({}).text("explain.hardware"), "");
  // Whether the spec sets leaf_size decides: it stays as it is.
  EXPECT_EQ(completed({}).text("explain.hardware_builder"), "medium");
  EXPECT_EQ(completed({"explain.enlarged_builders=medium;high"}).text("explain.enlarged_builders"), "medium;high");
  EXPECT_EQ(completed({"explain.hardware=any-order", "explain.hardware:seed=7"}).text("explain.hardware"),
            "any-order:seed=7");
  expect_usage([] { static_cast<void>(completed({"explain.enlarged_layouts=half-4;half-5"})); },
               {"--set, explain.enlarged_layouts", "did you mean 'half-4'?"});
  expect_usage([] { static_cast<void>(completed({"explain.enlarged_builders=mediun"})); },
               {"explain.enlarged_builders"});
}

TEST(Settings, OutputsInTheirOrderEachOnce) {
  Settings settings;
  settings.set_text("outputs=cache, simt,cache", "--set");
  EXPECT_EQ(settings.text("outputs"), "simt,cache");
  EXPECT_TRUE(settings.wants("simt"));
  EXPECT_TRUE(settings.wants("cache"));
  EXPECT_FALSE(settings.wants("model"));
  EXPECT_FALSE(settings.wants("cach"));
  expect_usage([&] { settings.set_text("outputs=simt,cahce", "--set"); },
               {"unknown output", "--set, outputs", "'cahce'", "did you mean 'cache'?"});
  expect_usage([&] { settings.set_text("outputs=", "--set"); }, {"unknown output"});
}

TEST(Settings, Hints) {
  EXPECT_EQ(completed({"scheduler.hints=a:4=material%16 ; b:1=1"}).text("scheduler.hints"), "a:4=material%16;b:1=1");
  expect_usage([] { static_cast<void>(completed({"scheduler.hints=a:4=1;a:4=2"})); }, {"one name", "'a'"});
  expect_usage([] { static_cast<void>(completed({"scheduler.hints=a:4=nonsense("})); }, {"--set, scheduler.hints"});
  expect_usage([] { static_cast<void>(completed({"scheduler.hint_files=a"})); }, {"--set, scheduler.hint_files"});
}

TEST(Settings, Machines) {
  expect_usage([] { static_cast<void>(completed({"machine.name=rtx4091"})); },
               {"--set, machine.name", "did you mean 'rtx4090'?"});
  const Settings settings = completed({"machine.name=h200", "machine.clock_mhz=1000"});
  const machine::Machine machine = machine_of(settings);
  EXPECT_EQ(machine.name, "h200");
  EXPECT_EQ(machine.clock_mhz, 1000);
  EXPECT_EQ(machine.sms, 132U);
  EXPECT_TRUE(machine.software_traversal);
}

TEST(Settings, FewerSmsThanAreWithheld) {
  EXPECT_EQ(completed({"machine.sms=1"}).integer("machine.withheld_sms"), 0);
  EXPECT_EQ(completed({"machine.sms=2"}).integer("machine.withheld_sms"), 1);
  EXPECT_EQ(completed({"machine.sms=3"}).integer("machine.withheld_sms"), 2);
  expect_usage(
      [] {
        static_cast<void>(completed({"machine.sms=4", "machine.withheld_sms=4"}));
      },
      {"withholds all", "--set, machine.withheld_sms", "less than machine.sms = 4"});
}

/// The number was seen on the machine's own SMs; nobody gave one for others.
TEST(Settings, WithheldSmsOfOtherNumbersOfSmsAreAssumed) {
  const std::string laptop = "machine.name=rtx4060-laptop";
  EXPECT_EQ(machine_of(completed({laptop})).origin("withheld_sms"), machine::Origin::Measured);
  EXPECT_EQ(machine_of(completed({laptop, "machine.sms=24"})).origin("withheld_sms"), machine::Origin::Measured);
  EXPECT_EQ(machine_of(completed({laptop, "machine.sms=12"})).origin("withheld_sms"), machine::Origin::Assumed);
  EXPECT_EQ(machine_of(completed({laptop, "machine.sms=12", "machine.withheld_sms=2"})).origin("withheld_sms"),
            machine::Origin::Given);
  const Settings cut = completed({"machine.sms=2"});
  EXPECT_EQ(machine_of(cut).origin("withheld_sms"), machine::Origin::Assumed);
  EXPECT_EQ(cut_withheld(cut), 2U);
  EXPECT_EQ(cut_withheld(completed({"machine.sms=3"})), std::nullopt) << "all of them";
  const Settings given = completed({"machine.sms=2", "machine.withheld_sms=1"});
  EXPECT_EQ(machine_of(given).origin("withheld_sms"), machine::Origin::Given);
  EXPECT_EQ(cut_withheld(given), std::nullopt);
}

TEST(Settings, RatesOfBoxesAndTrianglesComeTogether) {
  const Settings both = completed({"machine.rt_boxes_per_cycle=2", "machine.rt_triangles_per_cycle=1"});
  EXPECT_EQ(machine_of(both).rt_boxes_per_cycle, 2);
  expect_usage([] { static_cast<void>(completed({"machine.rt_triangles_per_cycle=1"})); },
               {"only one of the rates", "--set, machine.rt_triangles_per_cycle", "or none of them"});
}

TEST(Settings, ParametersWithoutTheirModel) {
  Settings settings;
  settings.set("trace", std::string("t.rrt"), "");
  settings.set_text("workload:degree=4", "--set");
  expect_usage([&] { static_cast<void>(complete(settings)); },
               {"--set, workload:degree", "a parameter is set and its model is not", "Fix: set workload"});
}

TEST(Settings, MachineFilesAreReadOnce) {
  const auto path = std::filesystem::path(testing::TempDir()) / "settings_machine.toml";
  std::ofstream(path) << "sms = 5\n";
  EXPECT_EQ(completed({"machine.name=" + path.string()}).integer("machine.sms"), 5);
  std::ofstream(path) << "sms = 6\n";
  EXPECT_EQ(completed({"machine.name=" + path.string()}).integer("machine.sms"), 5);
  std::filesystem::remove(path);
}

TEST(Settings, ManyThreadsAtOnce) {
  const auto expected = values_of(completed({"packing=random:seed=77", "machine.name=arc-a770"}));
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (std::size_t i = 0; i < same.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round) {
        static_cast<void>(completed({"packing=random:seed=" + std::to_string(round), "machine.name=h200"}));
        same[i] += values_of(completed({"packing=random:seed=77", "machine.name=arc-a770"})) == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(same, (std::vector<int>{100, 100, 100, 100}));
}

TEST(Settings, AShorthandSetsTheCacheThatTimesAndTheOneAskedAbout) {
  Settings settings = with({"cache.l1.bytes=8KiB", "machine.name=rtx3080"});
  const Shorthand& l1 = shorthands().front();
  ASSERT_EQ(l1.flag, "--l1");
  set_shorthand(settings, l1, "32KiB:line=64,ways=full");
  for (const char* key : {"machine.l1_", "cache.l1."}) {
    const std::string prefix = key;
    EXPECT_EQ(settings.integer(prefix + "bytes"), 32 << 10);
    EXPECT_EQ(settings.integer(prefix + "line_bytes"), 64);
    EXPECT_EQ(settings.integer(prefix + "ways"), 0);
    EXPECT_EQ(settings.integer(prefix + "sector_bytes"), 32) << "what is left out stays";
    EXPECT_EQ(settings.where(prefix + "bytes"), "--l1");
  }
  set_shorthand(settings, shorthands()[1], "none");
  EXPECT_EQ(settings.integer("machine.l2_bytes"), 0);
  EXPECT_EQ(settings.integer("cache.l2.bytes"), 0);
  EXPECT_FALSE(settings.has("cache.l2.ways"));
  expect_usage([&] { set_shorthand(settings, l1, "32KiB:line=100"); }, {"--l1: the line size of a cache does not fit"});
  expect_usage([&] { set_shorthand(settings, l1, "2048MiB"); }, {"--l1, machine.l1_bytes", "out of range"});
  expect_usage([&] { set_shorthand(settings, l1, "64KiB:lien=64"); }, {"--l1", "did you mean 'line'?"});
}

TEST(Settings, AFlagIsThePlaceOfItsKey) {
  EXPECT_EQ(place_of("--packing", "packing"), "--packing");
  EXPECT_EQ(place_of("--set", "packing"), "--set, packing");
  EXPECT_EQ(place_of("e.toml:3", "packing"), "e.toml:3, packing");
  EXPECT_EQ(place_of("", "packing"), "packing");
  Settings settings;
  expect_usage([&] { settings.set("launch", std::string("x"), "--launch"); }, {"--launch: ", "'x'"});
}

TEST(Settings, SomeOfTheKeys) {
  const Settings settings = completed({"costs.metal=3", "packing=numrays"});
  const Settings some =
      of_keys(settings, [](const ExperimentParameter& parameter) { return is_read(parameter, bit(stage("simt"))); });
  EXPECT_EQ(some.integer("costs.metal"), 3);
  EXPECT_TRUE(some.has("policy"));
  EXPECT_FALSE(some.has("packing"));
  EXPECT_EQ(complete(with({}), NamedInput::Elsewhere).text("trace"), "");
}

TEST(Settings, UndeclaredKeysAreFaultsOfOurs) {
  const Settings settings = completed({});
  for (const char* key : {"nothing", "costs.metal", "packing:seed", "costs.*"}) {
    try {
      static_cast<void>(settings.at(key));
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Internal);
    }
  }
}

}  // namespace
}  // namespace rayreplay::experiment
