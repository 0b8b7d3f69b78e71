#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// The values of the only axis.
std::vector<std::string> axis(const std::string& key, const std::string& right) {
  const Definition definition = parsed("[axes]\n\"" + key + "\" = " + right + "\n");
  return texts(definition.factors.at(0).axes.at(0).values);
}

TEST(Definition, ListsHoldNumbersSizesTextsAndTruthValues) {
  EXPECT_THAT(axis("cache.l1.bytes", "[1024, \"4KiB\", \"1MiB\"]"), ElementsAre("1024", "4096", "1048576"));
  EXPECT_THAT(axis("scheduler.steps_per_ray", "[1, 2.5]"), ElementsAre("1", "2.5"));
  EXPECT_THAT(axis("stream.coalesce", "[true, false]"), ElementsAre("true", "false"));
  EXPECT_THAT(axis("scheduler.model", "[\"plain\", \"ser\"]"), ElementsAre("plain", "ser"));
  EXPECT_THAT(axis("scheduler.model:pool", "[1, 2]"), ElementsAre("1", "2"));
  EXPECT_THAT(axis("outputs", "[[\"simt\", \"cache\"], \"simt\"]"), ElementsAre("simt,cache", "simt"));
  EXPECT_THAT(axis("costs.metal", "[1, 20]"), ElementsAre("1", "20"));
}

TEST(Definition, Ranges) {
  EXPECT_THAT(axis("machine.sms", "{ from = 1, to = 16, step = 5 }"), ElementsAre("1", "6", "11", "16"));
  EXPECT_THAT(axis("machine.sms", "{ from = 1, to = 15, step = 5 }"), ElementsAre("1", "6", "11"));
  EXPECT_THAT(axis("machine.sms", "{ from = 3, to = 3, step = 5 }"), ElementsAre("3"));
  EXPECT_THAT(axis("scheduler.steps_per_ray", "{ from = 0, to = 1, step = 0.1 }"),
              ElementsAre("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"));
  EXPECT_THAT(axis("machine.sms", "{ from = 2, to = 8, count = 4 }"), ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(axis("machine.sms", "{ from = 2, to = 8, count = 1 }"), ElementsAre("2"));
  EXPECT_THAT(axis("machine.sms", "{ from = 1, to = 1000, count = 4, scale = \"log\" }"),
              ElementsAre("1", "10", "100", "1000"));
  // Whole numbers that are rounded to one another count once.
  EXPECT_THAT(axis("machine.sms", "{ from = 1, to = 3, count = 9 }"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(axis("scheduler.steps_per_ray", "{ from = 0.25, to = 4, count = 5, scale = \"log\" }"),
              ElementsAre("0.25", "0.5", "1", "2", "4"));
  EXPECT_THAT(axis("cache.l1.bytes", "{ powers_of_two = [\"4KiB\", \"32KiB\"] }"),
              ElementsAre("4096", "8192", "16384", "32768"));
  EXPECT_THAT(axis("cache.l1.ways", "{ powers_of_two = [1, 4] }"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(axis("cache.l1.bytes", "{ from = \"4KiB\", to = \"12KiB\", step = \"4KiB\" }"),
              ElementsAre("4096", "8192", "12288"));
}

TEST(Definition, ContinuousRanges) {
  const Definition definition = parsed(
      "sampler = \"random:count=3\"\n[axes]\n\"scheduler.steps_per_ray\" = { from = 0.5, to = 8, scale = \"log\" }\n"
      "\"machine.sms\" = { from = 1, to = 64 }\n");
  const Axis& real = definition.factors.at(0).axes.at(0);
  EXPECT_TRUE(real.values.empty());
  ASSERT_TRUE(real.range);
  EXPECT_EQ(real.range->low, 0.5);
  EXPECT_EQ(real.range->high, 8);
  EXPECT_TRUE(real.range->logarithmic);
  EXPECT_FALSE(real.range->whole);
  EXPECT_TRUE(definition.factors.at(1).axes.at(0).range->whole);
  EXPECT_FALSE(definition.factors.at(1).axes.at(0).range->logarithmic);
}

TEST(Definition, AxesAreInTheOrderOfTheFile) {
  const Definition definition = parsed(R"(
[axes]
"packing" = ["identity", "random"]
machine.sms = [1, 2]
"cache.l1.ways" = [1]
[[zip]]
"policy" = ["stage-majority"]
"bvh.leaf_size" = [4]
)");
  EXPECT_THAT(axis_keys(definition), ElementsAre("packing", "machine.sms", "cache.l1.ways", "policy", "bvh.leaf_size"));
  EXPECT_THAT(definition.factors, SizeIs(4));
  // A table with dotted heads is the same.
  EXPECT_THAT(axis_keys(parsed("[axes.machine]\nsms = [1]\nresident_warps = {from = 1, to = 2, step = 1}\n")),
              ElementsAre("machine.sms", "machine.resident_warps"));
  EXPECT_THAT(axis_keys(parsed("[[zip]]\n\"policy\" = [\"stage-majority\"]\n[axes]\n\"machine.sms\" = [1]\n")),
              ElementsAre("policy", "machine.sms"));
}

TEST(Definition, BaseFileAndInlineKeys) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "sweep_base";
  std::filesystem::create_directories(folder / "below");
  std::ofstream(folder / "below" / "e.toml") << "trace = \"t.rrt\"\nwarp_size = 16\n[cache.l1]\nways = 2\n";
  const Definition definition = parse_sweep(
      "base = \"below/e.toml\"\n[experiment]\nwarp_size = 32\n[experiment.cache.l2]\nways = 8\n[axes]\n"
      "\"trace\" = [\"u.rrt\", \"/v.rrt\"]\n",
      "s.toml", folder.string());
  EXPECT_EQ(definition.base.text("trace"), (folder / "below" / "t.rrt").string());
  EXPECT_EQ(definition.base.integer("warp_size"), 32);
  EXPECT_EQ(definition.base.integer("cache.l1.ways"), 2);
  EXPECT_EQ(definition.base.integer("cache.l2.ways"), 8);
  EXPECT_EQ(definition.base.where("warp_size"), "s.toml:3");
  EXPECT_THAT(texts(definition.factors.at(0).axes.at(0).values), ElementsAre((folder / "u.rrt").string(), "/v.rrt"));
}

TEST(Definition, SamplerObjectiveAndStop) {
  const std::string axes = "[axes]\n\"machine.sms\" = [1, 2]\n";
  const Definition plain = parsed(axes);
  EXPECT_EQ(plain.sampler, "grid");
  EXPECT_FALSE(plain.objective);
  EXPECT_EQ(plain.most_runs, 0U);
  const Definition full = parsed("sampler = \"random:seed=7\"\nobjective = \"less l1_hit_rate\"\n" + axes +
                                 "[stop]\nruns = 10\nseconds = 1.5\n");
  EXPECT_EQ(full.sampler, "random:count=100,seed=7");
  EXPECT_EQ(full.objective->metric, "l1_hit_rate");
  EXPECT_EQ(full.objective->goal, experiment::Goal::Less);
  EXPECT_EQ(full.most_runs, 10U);
  EXPECT_EQ(full.most_seconds, 1.5);
  EXPECT_EQ(parsed("objective = \"l1_hit_rate\"\n" + axes).objective->goal, experiment::Goal::More);
  EXPECT_EQ(parsed("objective = \"more l1_hit_rate\"\n" + axes).objective->goal, experiment::Goal::More);
}

TEST(Definition, HashIsOfWhatDecidesTheConfigurations) {
  const std::string text = R"(
where = ["machine.sms > 1"]
exclude = [{ "machine.sms" = 2 }]
[experiment]
trace = "t.rrt"
[axes]
"machine.sms" = [1, 2, 3]
)";
  const std::string hash = definition_hash(parsed(text));
  EXPECT_EQ(hash.size(), 32U);
  EXPECT_EQ(hash, definition_hash(parsed(text + "[stop]\nruns = 5\n")));
  EXPECT_EQ(hash, definition_hash(parsed("objective = \"l1_hit_rate\"\n# a comment\n" + text)));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return definition_hash(parsed(other));
  };
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"> 1", "> 0"},
                                                        {"= 2 }", "= 3 }"},
                                                        {"t.rrt", "u.rrt"},
                                                        {"2, 3]", "3, 2]"},
                                                        {"[1, 2, 3]", "[1, 2, 3, 4]"},
                                                        {"where", "sampler = \"random\"\nwhere"},
                                                        {"trace =", "warp_size = 8\ntrace ="}}) {
    EXPECT_NE(hash, changed(from, to)) << from;
  }
  // Wherever the sweep lies, and wherever it is started from.
  EXPECT_EQ(hash, definition_hash(parse_sweep(text, "a/s.toml", "a")));
  EXPECT_EQ(hash, definition_hash(parse_sweep(text, "/b/s.toml", "/b")));
}

}  // namespace
}  // namespace rayreplay::sweep::testing
