#include <gmock/gmock.h>

#include <fmt/format.h>

#include "base/split_mix.hpp"
#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Plan, GridIsNestedLoopsInTheOrderOfTheFile) {
  const Plan plan(of(R"(
[axes]
"machine.sms" = [1, 2]
[[zip]]
"bvh.layout" = ["binary", "wide-8"]
"bvh.node_order" = ["depth-first", "van-emde-boas"]
)"));
  EXPECT_THAT(plan.keys(), ElementsAre("machine.sms", "bvh.layout", "bvh.node_order"));
  EXPECT_THAT(rows(plan),
              ElementsAre(ElementsAre("1", "binary", "depth-first"), ElementsAre("1", "wide-8", "van-emde-boas"),
                          ElementsAre("2", "binary", "depth-first"), ElementsAre("2", "wide-8", "van-emde-boas")));
  EXPECT_EQ(plan.dropped(), 0U);
  const experiment::Settings settings = plan.settings(2);
  EXPECT_EQ(settings.text("trace"), "t.rrt");
  EXPECT_EQ(settings.integer("machine.sms"), 2);
  EXPECT_EQ(settings.text("bvh.node_order"), "depth-first");
  EXPECT_EQ(settings.where("machine.sms"), "s.toml:3");
}

TEST(Plan, AnAxisReplacesTheBase) {
  const Plan plan(of("[experiment]\nwarp_size = 16\n[axes]\nwarp_size = [8, 32]\n"));
  EXPECT_EQ(plan.settings(0).integer("warp_size"), 8);
  EXPECT_EQ(plan.settings(1).integer("warp_size"), 32);
}

TEST(Plan, ExcludesNeedEveryKeyOfOneOfThem) {
  const Plan plan(of(R"(
exclude = [{ "machine.sms" = 1, "cache.l1.ways" = 4 }, { "machine.sms" = 3 }]
[axes]
"machine.sms" = [1, 2, 3]
"cache.l1.ways" = [2, 4]
)"));
  EXPECT_THAT(rows(plan), ElementsAre(ElementsAre("1", "2"), ElementsAre("2", "2"), ElementsAre("2", "4")));
  EXPECT_EQ(plan.dropped(), 3U);
}

TEST(Plan, ExcludesOfKeysThatAreNoAxis) {
  const std::string axes = "[axes]\n\"machine.l1_bytes\" = [\"64KiB\", \"128KiB\"]\n";
  EXPECT_EQ(Plan(of("exclude = [{ warp_size = 8, \"machine.l1_bytes\" = 65536 }]\n" + axes)).runs(), 2U);
  EXPECT_EQ(Plan(of("exclude = [{ warp_size = 0, \"machine.l1_bytes\" = 65536 }]\n" + axes)).runs(), 1U);
  // Inherited from the axis.
  EXPECT_THAT(rows(Plan(of("exclude = [{ \"cache.l1.bytes\" = \"64KiB\" }]\n" + axes))),
              ElementsAre(ElementsAre("131072")));
}

TEST(Plan, ModelsAreNamedByTheirNameOrTheirSpec) {
  const std::string axes = "[axes]\n\"packing\" = [\"identity\", \"random:seed=1\", \"random:seed=2\"]\n";
  const auto left = [&](const std::string& rule) { return rows(Plan(of(rule + "\n" + axes))); };
  EXPECT_THAT(left("where = ['packing == \"random\"']"),
              ElementsAre(ElementsAre("random:seed=1"), ElementsAre("random:seed=2")));
  EXPECT_THAT(left("exclude = [{ packing = \"random\" }]"), ElementsAre(ElementsAre("identity")));
  EXPECT_THAT(left("exclude = [{ packing = \"random:seed=2\" }]"),
              ElementsAre(ElementsAre("identity"), ElementsAre("random:seed=1")));
  // Models without the parameter are dropped.
  EXPECT_THAT(left("where = ['packing:seed < 2']"), ElementsAre(ElementsAre("random:seed=1")));
  EXPECT_THAT(left("where = ['packing != \"random\" || packing:seed == 2']"),
              ElementsAre(ElementsAre("identity"), ElementsAre("random:seed=2")));
}

TEST(Plan, ExcludedSpecsAreComparedInFull) {
  // What is not named has its default, in the sweep as in the exclusion; order says nothing.
  const auto left = [](const std::string& excluded, const std::string& axes) {
    return rows(Plan(of("exclude = [{ packing = \"" + excluded + "\" }]\n" + axes)));
  };
  const std::string listed = "[axes]\npacking = [\"random\", \"random:seed=2\"]\n";
  EXPECT_THAT(left("random:seed=1", listed), ElementsAre(ElementsAre("random:seed=2")));
  EXPECT_THAT(left("random:tiled=false,seed=2", listed), ElementsAre(ElementsAre("random")));
  EXPECT_THAT(left("random:tiled=true", listed), SizeIs(2));
  // In a list of its own, or with the spec outside the axes, the seed decides as well.
  EXPECT_THAT(left("random:seed=2", "[axes]\npacking = [\"random\"]\n\"packing:seed\" = [1, 2]\n"),
              ElementsAre(ElementsAre("random", "1")));
  EXPECT_THAT(left("random:seed=2", "[experiment]\npacking = \"random\"\n[axes]\n\"packing:seed\" = [1, 2]\n"),
              ElementsAre(ElementsAre("1")));
  // A parameter that the model lacks: a row with its error.
  EXPECT_THAT(left("random:seed=1", "[axes]\npacking = [\"identity\", \"random\"]\n\"packing:seed\" = [1, 2]\n"),
              ElementsAre(ElementsAre("identity", "1"), ElementsAre("identity", "2"), ElementsAre("random", "2")));
}

TEST(Plan, ParametersOfSpecsAsAxes) {
  const std::string axes = "[axes]\npacking = [\"random\"]\n\"packing:seed\" = [1, 2, 3]\n";
  EXPECT_THAT(rows(Plan(of("where = [\"packing:seed % 2 == 1\"]\n" + axes))),
              ElementsAre(ElementsAre("random", "1"), ElementsAre("random", "3")));
  EXPECT_THAT(Plan(of("exclude = [{ \"packing:seed\" = 2 }]\n" + axes)).runs(), 2U);
  EXPECT_THAT(experiment::complete(Plan(of(axes)).settings(1)).text("packing"), ::testing::HasSubstr("seed=2"));
}

TEST(Plan, ConfigurationsThatCannotBeAreKeptForTheirError) {
  // "identity" has no seed: what the condition asks cannot be judged.
  const Plan plan(
      of("where = [\"packing:seed == 1\"]\n[axes]\npacking = [\"identity\", \"random\"]\n"
         "\"packing:seed\" = [1, 2]\n"));
  EXPECT_THAT(rows(plan),
              ElementsAre(ElementsAre("identity", "1"), ElementsAre("identity", "2"), ElementsAre("random", "1")));
  EXPECT_THROW(static_cast<void>(experiment::complete(plan.settings(0))), Error);
}

TEST(Plan, ConditionsSeeInheritedValues) {
  const std::string text = R"(
where = ["cache.l1.bytes <= cache.l2.bytes", "machine.l1_ways >= 1"]
[axes]
"machine.l1_bytes" = ["64KiB", "1MiB"]
"cache.l2.bytes" = ["128KiB", "2MiB"]
)";
  EXPECT_THAT(rows(Plan(of(text))), ElementsAre(ElementsAre("65536", "131072"), ElementsAre("65536", "2097152"),
                                                ElementsAre("1048576", "2097152")));
  // Of a machine.
  const Plan machines(of("where = [\"machine.sms > 100\"]\n[axes]\n\"machine.name\" = [\"rtx4090\", \"rtx3080\"]\n"));
  EXPECT_THAT(rows(machines), ElementsAre(ElementsAre("rtx4090")));
}

/// What the plan must give, the slow way: every combination completed and looked up.
std::vector<std::vector<std::string>> by_force(const Definition& definition) {
  std::vector<std::vector<std::string>> found;
  std::vector<std::size_t> choice(definition.factors.size());
  for (;;) {
    experiment::Settings settings = definition.base;
    std::vector<std::string> row;
    for (std::size_t f = 0; f < choice.size(); ++f) {
      for (const Axis& axis : definition.factors[f].axes) {
        settings.set(axis.key, axis.values[choice[f]], "");
        row.push_back(to_text(axis.values[choice[f]]));
      }
    }
    const experiment::Settings complete = experiment::complete(settings);
    bool kept = true;
    for (const auto& exclude : definition.excludes) {
      bool matches = true;
      for (const auto& [key, value] : exclude) {
        matches = matches && to_text(complete.at(key)) == to_text(value);
      }
      kept = kept && !matches;
    }
    for (const Condition& condition : definition.conditions) {
      kept = kept && condition.holds([&](const std::string& key) { return &complete.at(key); });
    }
    if (kept) {
      found.push_back(row);
    }
    std::size_t f = choice.size();
    while (f > 0 && ++choice[f - 1] == definition.factors[f - 1].size()) {
      choice[--f] = 0;
    }
    if (f == 0) {
      return found;
    }
  }
}

TEST(Plan, EqualsItsSlowTwin) {
  const std::vector<std::string> rules = {
      "cache.l1.bytes <= cache.l2.bytes",      "cache.l1.ways * 2 >= machine.sms",
      "machine.sms % 2 == 0 || warp_size > 8", "cache.l2.ways != 4",
      "machine.l1_bytes < cache.l2.bytes / 2", "!(machine.withheld_sms == 1)",
  };
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t limit) { return split_mix(42, draw++) % limit; };
  for (int round = 0; round < 60; ++round) {
    std::string text = "where = [";
    for (const std::string& rule : rules) {
      text += below(3) == 0 ? fmt::format("'{}', ", rule) : "";
    }
    text += "]\nexclude = [";
    for (std::uint64_t i = below(4); i > 0; --i) {
      text += fmt::format("{{ \"{}\" = {}, \"machine.sms\" = {} }}, ",
                          below(2) == 0 ? "cache.l1.ways" : "cache.l2.ways", 1U << below(3), 1 + below(3));
    }
    text += "]\n[axes]\n\"machine.sms\" = [1, 2, 3]\n";
    text += below(2) == 0 ? "\"cache.l1.ways\" = [1, 2, 4]\n" : "\"machine.l1_ways\" = [1, 2, 4]\n";
    text += below(2) == 0 ? "\"machine.l1_bytes\" = [4096, 65536]\n" : "\"cache.l1.bytes\" = [4096, 65536]\n";
    text += "[[zip]]\n\"cache.l2.bytes\" = [4096, 65536, 262144]\n\"warp_size\" = [8, 16, 32]\n";
    const Definition definition = of(text);
    const auto wanted = by_force(definition);
    if (!wanted.empty()) {
      const Plan plan(definition);
      EXPECT_EQ(rows(plan), wanted) << text;
      EXPECT_EQ(plan.dropped() + plan.runs(), 3U * 3 * 2 * 3);
    }
  }
}

TEST(Plan, CountsRunsWithoutMakingThem) {
  const std::string axes = "[axes]\n\"machine.sms\" = [1, 2, 3]\n\"cache.l1.ways\" = [1, 2]\n";
  EXPECT_EQ(count_runs(of(axes)), 6U);
  EXPECT_EQ(count_runs(of("sampler = \"random:count=4\"\n" + axes)), 4U);
  EXPECT_EQ(count_runs(of("sampler = \"random:count=40\"\n" + axes)), 6U);
  EXPECT_EQ(count_runs(of("sampler = \"latin-hypercube:count=40\"\n" + axes)), 40U);
}

TEST(Plan, AHundredThousand) {
  const Definition definition = of(R"(
exclude = [{ "cache.l1.ways" = 4, "machine.sms" = 3 }]
where = ["cache.l1.bytes <= cache.l2.bytes", "machine.sms * cache.l1.ways >= 2"]
[experiment]
outputs = "cache"
[axes]
"machine.sms" = { from = 1, to = 50, step = 1 }
"cache.l1.bytes" = { from = "4KiB", to = "160KiB", step = "4KiB" }
"cache.l1.ways" = [1, 2, 4, 8, 16]
"cache.l2.ways" = [4, 8]
[[zip]]
"cache.l2.bytes" = ["64KiB", "128KiB", "256KiB", "512KiB", "1MiB"]
"warp_size" = [8, 16, 32, 16, 8]
)");
  const Plan plan(definition);
  EXPECT_EQ(plan.runs() + plan.dropped(), 100'000U);
  std::uint64_t kept = 0;
  for (std::int64_t sms = 1; sms <= 50; ++sms) {
    for (std::int64_t l1 = 4; l1 <= 160; l1 += 4) {
      for (const std::int64_t ways : {1, 2, 4, 8, 16}) {
        for (const std::int64_t l2 : {64, 128, 256, 512, 1024}) {
          kept += (ways != 4 || sms != 3) && l1 <= l2 && sms * ways >= 2 ? 2U : 0U;
        }
      }
    }
  }
  EXPECT_EQ(plan.runs(), kept);
}

}  // namespace
}  // namespace rayreplay::sweep::testing
