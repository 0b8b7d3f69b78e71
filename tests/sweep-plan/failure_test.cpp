// Sweep files that are wrong: every message names the line, what was found, and what is meant.
#include <array>

#include <gmock/gmock.h>

#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  return message_of([&] { static_cast<void>(parsed(text)); });
}

std::string axis_error(const std::string& key, const std::string& right) {
  return error_of("[axes]\n\"" + key + "\" = " + right + "\n");
}

const std::string kAxes = "[axes]\n\"machine.sms\" = [1, 2]\n";

TEST(SweepFailure, Text) {
  EXPECT_THAT(error_of("[axes\n"), AllOf(HasSubstr("not TOML"), HasSubstr("s.toml:1")));
  EXPECT_THAT(error_of("samplr = \"grid\"\n" + kAxes), AllOf(HasSubstr("s.toml:1"), HasSubstr("'sampler'")));
  EXPECT_THAT(error_of("trace = \"t.rrt\"\n" + kAxes), HasSubstr("[experiment]"));
  EXPECT_THAT(error_of("axes = 3\n"), AllOf(HasSubstr("s.toml:1"), HasSubstr("a table")));
  EXPECT_THAT(error_of("zip = 3\n"), HasSubstr("[[zip]]"));
  EXPECT_THAT(error_of("[zip]\n\"machine.sms\" = [1]\n"), HasSubstr("[[zip]]"));
  EXPECT_THAT(error_of("[experiment]\ntrace = \"t.rrt\"\n"), AllOf(HasSubstr("no axes"), HasSubstr("rayreplay run")));
  EXPECT_THAT(error_of(kAxes + "where = [\"machine.sms > 1\"]\n"),
              AllOf(HasSubstr("'where' stands inside [axes]"), HasSubstr("before the first [table]")));
}

TEST(SweepFailure, Keys) {
  EXPECT_THAT(axis_error("cache.l1.byte", "[1]"), AllOf(HasSubstr("s.toml:2"), HasSubstr("'cache.l1.bytes'")));
  EXPECT_THAT(axis_error("explain.slack", "[1, 2]"),
              AllOf(HasSubstr("s.toml:2"), HasSubstr("no stage of 'run' and 'sweep' reads the key"),
                    HasSubstr("rayreplay explain")));
  EXPECT_THAT(error_of(kAxes + "[experiment]\nwarp_sise = 3\n"),
              AllOf(HasSubstr("s.toml:4"), HasSubstr("'warp_size'")));
  EXPECT_THAT(error_of("exclude = [{ \"machine.sm\" = 1 }]\n" + kAxes),
              AllOf(HasSubstr("s.toml:1"), HasSubstr("'machine.sms'")));
  EXPECT_THAT(error_of(kAxes + "[[zip]]\n\"machine.sms\" = [1, 2]\n"),
              AllOf(HasSubstr("two axes"), HasSubstr("s.toml:4"), HasSubstr("s.toml:2")));
  EXPECT_THAT(error_of(kAxes + "[stop]\nrun = 3\n"), AllOf(HasSubstr("s.toml:4"), HasSubstr("'runs'")));
}

TEST(SweepFailure, Values) {
  EXPECT_THAT(axis_error("machine.sms", "[1, \"many\"]"), AllOf(HasSubstr("s.toml:2"), HasSubstr("many")));
  EXPECT_THAT(axis_error("machine.sms", "[1,\n2,\n\"many\"]"), HasSubstr("s.toml:4"));
  EXPECT_THAT(axis_error("machine.sms", "[1, 0]"), HasSubstr("machine.sms"));
  EXPECT_THAT(axis_error("machine.sms", "[1.5]"), HasSubstr("machine.sms"));
  EXPECT_THAT(axis_error("machine.sms", "[1979-05-27]"), HasSubstr("date"));
  EXPECT_THAT(axis_error("machine.sms", "[]"), HasSubstr("empty"));
  EXPECT_THAT(axis_error("machine.sms", "3"), AllOf(HasSubstr("several values"), HasSubstr("[experiment]")));
  EXPECT_THAT(axis_error("machine.sms", "[1, 2, 1]"), AllOf(HasSubstr("twice"), HasSubstr("machine.sms = 1")));
  EXPECT_THAT(axis_error("cache.l1.bytes", "[\"4KiB\", 4096]"), HasSubstr("twice"));
  EXPECT_THAT(error_of("exclude = [{}]\n" + kAxes), HasSubstr("everything"));
  EXPECT_THAT(error_of("exclude = [3]\n" + kAxes), HasSubstr("{ KEY = VALUE"));
  EXPECT_THAT(error_of("exclude = 3\n" + kAxes), HasSubstr("a list of tables"));
  EXPECT_THAT(error_of("exclude = [{ \"machine.sms\" = \"x\" }]\n" + kAxes), HasSubstr("s.toml:1"));
  EXPECT_THAT(error_of("where = 3\n" + kAxes), HasSubstr("conditions"));
  EXPECT_THAT(error_of("where = [3]\n" + kAxes), HasSubstr("a text"));
  EXPECT_THAT(error_of("where = [\n\"machine.sm > 3\"]\n" + kAxes), HasSubstr("s.toml:2, column 1"));
  EXPECT_THAT(error_of("objective = \"more l1_hit_rat\"\n" + kAxes),
              AllOf(HasSubstr("s.toml:1"), HasSubstr("l1_hit_rate")));
  EXPECT_THAT(error_of("objective = \"simt_active_lanes\"\n" + kAxes), HasSubstr("more simt_active_lanes"));
  EXPECT_THAT(error_of("sampler = \"gird\"\n" + kAxes), AllOf(HasSubstr("s.toml:1"), HasSubstr("'grid'")));
  EXPECT_THAT(error_of("sampler = \"random:count=0\"\n" + kAxes), HasSubstr("s.toml:1"));
  EXPECT_THAT(error_of(kAxes + "[stop]\nruns = 0\n"), HasSubstr("above 0"));
  EXPECT_THAT(error_of(kAxes + "[stop]\nseconds = -1\n"), HasSubstr("above 0"));
  EXPECT_THAT(error_of(kAxes + "[stop]\nseconds = inf\n"), HasSubstr("above 0"));
}

TEST(SweepFailure, Ranges) {
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, too = 3 }"), AllOf(HasSubstr("'too'"), HasSubstr("'to'")));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1 }"), AllOf(HasSubstr("to"), HasSubstr("not there")));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 9, to = 3, step = 1 }"), HasSubstr("empty"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, step = 0 }"), HasSubstr("step"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, step = -1 }"), HasSubstr("step"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, step = 0.5 }"), HasSubstr("machine.sms"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, step = 1, count = 3 }"), HasSubstr("one of them"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, count = 0 }"), HasSubstr("count"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, count = 2.5 }"), HasSubstr("count"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3, count = 2, scale = \"cubic\" }"), HasSubstr("'cubic'"));
  EXPECT_THAT(axis_error("scheduler.steps_per_ray", "{ from = 0, to = 3, count = 2, scale = \"log\" }"),
              HasSubstr("above 0"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 3 }"), AllOf(HasSubstr("continuous"), HasSubstr("random")));
  EXPECT_THAT(axis_error("machine.sms", "{ from = nan, to = 3 }"), HasSubstr("a number"));
  EXPECT_THAT(axis_error("machine.name", "{ from = 1, to = 3, step = 1 }"), HasSubstr("a text"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = \"a\", to = 3, step = 1 }"), HasSubstr("'a'"));
  EXPECT_THAT(axis_error("machine.sms", "{ from = 1, to = 99999, step = 1 }"), HasSubstr("4096"));
  EXPECT_THAT(axis_error("launch", "{ from = 1, to = 4000000000, step = 1 }"), HasSubstr("too many values"));
  EXPECT_THAT(axis_error("cache.l1.ways", "{ powers_of_two = [3, 8] }"), HasSubstr("no power of two"));
  EXPECT_THAT(axis_error("cache.l1.ways", "{ powers_of_two = [0, 8] }"), HasSubstr("no power of two"));
  EXPECT_THAT(axis_error("cache.l1.ways", "{ powers_of_two = [8, 2] }"), HasSubstr("empty"));
  EXPECT_THAT(axis_error("cache.l1.ways", "{ powers_of_two = [8] }"), HasSubstr("two ends"));
  EXPECT_THAT(axis_error("cache.l1.ways", "{ powers_of_two = [2, 8], step = 2 }"), HasSubstr("nothing else"));
}

TEST(SweepFailure, Zips) {
  const std::string zip = "sampler = \"random\"\n[[zip]]\n\"machine.sms\" = [1, 2]\n";
  EXPECT_THAT(error_of(zip + "\"cache.l1.ways\" = [1, 2, 4]\n"),
              AllOf(HasSubstr("s.toml:4"), HasSubstr("machine.sms has 2 values, cache.l1.ways has 3")));
  EXPECT_THAT(error_of(zip + "\"cache.l1.ways\" = { from = 1, to = 2 }\n"), HasSubstr("cannot be zipped"));
  EXPECT_THAT(error_of("[[zip]]\n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("[[zip]]\n\"machine.sms\" = [1, 1]\n\"cache.l1.ways\" = [2, 2]\n"), HasSubstr("twice"));
}

TEST(SweepFailure, BaseThatIsNotThere) {
  try {
    static_cast<void>(parsed("base = \"no such file.toml\"\n" + kAxes));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("s.toml:1"), HasSubstr("no such file.toml")));
  }
}

TEST(SweepFailure, NothingLeft) {
  EXPECT_THAT(message_of([] { const Plan plan(of("where = [\"machine.sms > 1\", \"machine.sms < 2\"]\n" + kAxes)); }),
              AllOf(HasSubstr("no configurations"), HasSubstr("1 by \"machine.sms > 1\""),
                    HasSubstr("1 by \"machine.sms < 2\"")));
}

TEST(SweepFailure, TooMany) {
  const std::string wide = "{ from = 1, to = 1000, step = 1 }\n";
  const Definition definition = of("[axes]\n\"machine.sms\" = " + wide + "\"machine.resident_warps\" = " + wide +
                                   "\"warp_size\" = [8, 16, 32]\n" + "\"launch\" = " + wide + "[stop]\nruns = 10\n");
  EXPECT_EQ(count_runs(definition), 3'000'000'000U);
  EXPECT_THAT(message_of([&] { const Plan plan(definition); }),
              AllOf(HasSubstr("3000000000"), HasSubstr("10000000"), HasSubstr("random")));
}

TEST(SweepFailure, Specs) {
  EXPECT_THAT(message_of([] { parsed("[axes]\npacking = [\"random\", \"random:seed=1\"]\n"); }), HasSubstr("twice"));
  EXPECT_THAT(message_of([] {
                parsed("exclude = [{ packing = \"randon\" }]\n[axes]\npacking = [\"identity\", \"random\"]\n");
              }),
              HasSubstr("random"));
  EXPECT_THAT(message_of([] {
                parsed("exclude = [{ packing = \"random:sed=1\" }]\n[axes]\npacking = [\"identity\", \"random\"]\n");
              }),
              HasSubstr("seed"));
}

TEST(SweepFailure, ModelsThatDoNotExist) {
  const auto error = [](const std::string& text) { return message_of([&] { Plan(of(text)); }); };
  for (const auto& [key, wrong, right] : {std::array{"packing", "randm", "random"},
                                          {"order", "z-ordr", "z-order"},
                                          {"policy", "stage-majorty", "stage-majority"},
                                          {"bvh.builder", "hig", "high"},
                                          {"bvh.layout", "wide8", "wide-8"},
                                          {"bvh.node_order", "depth-furst", "depth-first"},
                                          {"traversal.ray", "near-frist", "near-first"},
                                          {"traversal.warp", "while-whle", "while-while"},
                                          {"scheduler.model", "plan", "plain"},
                                          {"schedule.distribution", "lanch", "launch"},
                                          {"schedule.warp_scheduler", "lose-round-robin", "loose-round-robin"},
                                          {"cache.l1.model", "lri", "lru"},
                                          {"cache.l2.model", "sdmc", "sdcm"},
                                          {"machine.name", "rtx4009", "rtx4090"}}) {
    const std::string text = "[axes]\n\"" + std::string(key) + "\" = [\n\"" + right + "\",\n\"" + wrong + "\"]\n";
    EXPECT_THAT(error(text),
                AllOf(HasSubstr("s.toml:4, " + std::string(key)), HasSubstr("'" + std::string(wrong) + "'"),
                      HasSubstr("did you mean '" + std::string(right) + "'?")));
  }
  EXPECT_THAT(error("[experiment]\npacking = \"randm\"\n" + kAxes),
              AllOf(HasSubstr("s.toml:2, packing"), HasSubstr("did you mean 'random'?")));
  EXPECT_EQ(Plan(of("[experiment]\npacking = \"randm\"\n[axes]\npacking = [\"random\"]\n")).runs(), 1U)
      << "an axis replaces the base";
}

TEST(SweepFailure, ParametersThatDoNotExist) {
  const auto error = [](const std::string& text) { return message_of([&] { Plan(of(text)); }); };
  EXPECT_THAT(error("[axes]\n\"scheduler.model\" = [\"plain\", \"ser:scope=foo\"]\n"),
              AllOf(HasSubstr("s.toml:2, scheduler.model"), HasSubstr("scope"), HasSubstr("'foo'"), HasSubstr("sm")));
  EXPECT_THAT(error("[axes]\npacking = [\"random:sed=2\"]\n"), HasSubstr("did you mean 'seed'?"));
  const std::string models = "[axes]\npacking = [\"identity\", \"random\"]\n";
  EXPECT_THAT(error(models + "\"packing:sed\" = [1, 2]\n"),
              AllOf(HasSubstr("s.toml:3, packing:sed"), HasSubstr("did you mean 'seed'?")));
  EXPECT_THAT(error(models + "\"packing:seed\" = [1,\n\"many\"]\n"),
              AllOf(HasSubstr("s.toml:4, packing:seed"), HasSubstr("'many'"), HasSubstr("packing 'random'")));
  EXPECT_THAT(error(models + "\"packing:seed\" = { from = -9, to = 4, step = 1 }\n"), HasSubstr("-9"));
  EXPECT_THAT(error("sampler = \"random:count=2\"\n" + models + "\"packing:seed\" = { from = -9, to = 4 }\n"),
              AllOf(HasSubstr("s.toml:4, packing:seed"), HasSubstr("-9")));
  EXPECT_THAT(error("[experiment]\n\"packing:seed\" = \"many\"\n" + models),
              AllOf(HasSubstr("s.toml:2, packing:seed"), HasSubstr("'many'")));
  // Half of these runs are rows with an error, but each value is possible.
  EXPECT_EQ(Plan(of(models + "\"packing:seed\" = [1, 2]\n")).runs(), 4U);
}

TEST(SweepFailure, ObjectiveThatNoOutputGives) {
  const std::string axes = "[axes]\npacking = [\"identity\", \"random\"]\n";
  const std::string head = "objective = \"more l1_hit_rate\"\n[experiment]\n";
  EXPECT_THAT(message_of([&] { Plan(of(head + "outputs = \"simt\"\n" + axes)); }), HasSubstr("cache"));
  EXPECT_EQ(Plan(of(head + "outputs = [\"simt\", \"cache\"]\n" + axes)).runs(), 2U);
  EXPECT_EQ(Plan(of(head + axes + "outputs = [\"simt\", \"cache\"]\n")).runs(), 4U);
}

}  // namespace
}  // namespace rayreplay::sweep::testing
