// Questions about memory time that contradict themselves, as a user asks them: refused before the work, with the fix.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

class WhatifRefusalsTest : public SmallTrace {
 protected:
  [[nodiscard]] static Outcome ask(const Words& more) {
    Words words = {"whatif", trace(), "--sms", "4", "--outputs", "time"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  static void refused(const Words& words, const testing::Matcher<const std::string&>& says) {
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, says);
    EXPECT_EQ(outcome.output, "");
  }
  /// `run` and `cache` of memory time with the settings; both say the same.
  static std::vector<Outcome> runs(const Words& settings) {
    Words run = {"run",           "--set", "trace=" + trace(),     "--set",   "outputs=time", "--set",
                 "machine.sms=4", "--set", "schedule.time=memory", "--store", "none"};
    Words cache = {"cache", trace(), "--sms", "4", "--time", "memory", "--no-distances"};
    for (const std::string& setting : settings) {
      run.insert(run.end(), {"--set", setting});
      cache.insert(cache.end(), {"--set", setting});
    }
    return {run_command(run), run_command(cache)};
  }
};

TEST_F(WhatifRefusalsTest, MachinesThatContradictThemselves) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"machine.l1_latency_cycles=400"}, "machine.l1_latency_cycles = 400, machine.l2_latency_cycles = 296"},
      {{"machine.dram_latency_cycles=100"}, "machine.l2_latency_cycles = 296, machine.dram_latency_cycles = 100"},
      {{"machine.registers=2047"}, "a warp of 32 threads with registers_per_thread = 64 needs 2048"},
      {{"schedule.resident_warps=49"},
       "an SM of the machine does not hold so many warps (found 49; expected at most 48"},
      {{"stream.payload_bytes=6"}, "the size is not a number of words"},
  };
  for (const auto& [settings, says] : cases) {
    std::vector<Outcome> outcomes = runs(settings);
    outcomes.push_back(ask({"--models", "plain,ser", "--set", settings.front()}));
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.code, 2) << settings.front();
      EXPECT_THAT(outcome.errors,
                  AllOf(HasSubstr(says), HasSubstr(settings.front().substr(0, settings.front().find('=')))));
    }
  }
  EXPECT_THAT(run_command({"whatif", trace(), "--models", "plain,ser", "--set", "machine.registers=2047"}).errors,
              HasSubstr("too few registers for a single warp"));
}

TEST_F(WhatifRefusalsTest, AModelGivenTwice) {
  refused({"--models", "ser,plain,ser"}, HasSubstr("a model is given twice, and one row would stand for both"));
  EXPECT_EQ(run_command({"whatif", trace(), "--models", "plain,plain"}).code, 2);
  EXPECT_EQ(run_command({"whatif", trace(), "--models", "all,ser"}).code, 0) << "all with a model beside it";
}

TEST_F(WhatifRefusalsTest, OddMachinesRunWithANote) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"schedule.resident_warps=40", "note: schedule.resident_warps = 40 replaces the 32 warps for which an SM has"},
      {"schedule.resident_warps=2", "2 of them never have a warp"},
      {"machine.issue_partitions=7", "does not divide among 7 partitions"},
      {"machine.l2_bytes_per_second=1e9", "the L2 serves fewer bytes a second than DRAM"},
      {"machine.rt_rays=8", "a ray-tracing unit of 8 rays"},
  };
  for (const auto& [setting, says] : cases) {
    std::vector<Outcome> outcomes = runs({setting});
    outcomes.push_back(ask({"--models", "plain,ser", "--no-break-even", "--set", setting}));
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.code, 0) << outcome.errors;
      EXPECT_THAT(outcome.errors, HasSubstr(says)) << setting;
    }
  }
  for (const Outcome& outcome : runs({})) {
    EXPECT_THAT(outcome.errors, Not(HasSubstr("partitions")));
    EXPECT_THAT(outcome.errors, Not(HasSubstr("registers")));
  }
}

TEST_F(WhatifRefusalsTest, NumbersThatCannotBeVaried) {
  const auto refused_number = [&](const std::string& list, const testing::Matcher<const std::string&>& says) {
    refused({"--models", "plain,ser", "--break-even", list}, says);
  };
  refused_number("machine.l1_line_bytes=64..256", AllOf(HasSubstr("not an amount"), HasSubstr("machine.l1_bytes, ")));
  refused_number("machine.withheld_sms=0..4", HasSubstr("values from 0 to 3, by machine.sms = 4"));
  refused_number("machine.rt_rays=0..64", HasSubstr("0 means 'no limit'"));
  refused_number("shader_costs.metal", HasSubstr("expected shader_costs.STAGE, with one of ray-generation"));
  refused_number("machine.l1_bytes=65536...262144", HasSubstr("not of the form LOW..HIGH"));
  refused_number("scheduler.model:bandwidth", HasSubstr("memory time does not depend on the key"));
  refused_number("scheduler.model:pool_warps", HasSubstr("arrival is all"));
  refused_number("machine.sms,machine.sms", HasSubstr("a key is named twice"));
  refused_number("scheduler.steps_per_ray", HasSubstr("memory time does not depend on the key"));
  refused_number("machine.rt_boxes_per_cycle", HasSubstr("machine.rt_steps_per_cycle is in use"));
  refused_number("schedule.resident_warps", HasSubstr("no amount now"));
  refused({"--models", "plain,ser:withheld=1", "--break-even", "scheduler.model:withheld=0..4"},
          HasSubstr("--break-even, scheduler.model:withheld = 4: scheduler model 'ser', withheld: no SM is left"));
  refused({"--models", "plain", "--break-even", "machine.l1_bytes"}, HasSubstr("there is nothing to compare"));
}

TEST_F(WhatifRefusalsTest, RangesOfSizesSayWhatTheyAre) {
  const Outcome outcome =
      ask({"--models", "plain,ser", "--break-even", "stream.payload_bytes=6..70", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("stream.payload_bytes: multiples of 4 bytes, so 8 to 68 in place of 6..70"));
  const json row = json::parse(outcome.output)["break_even"][0];
  EXPECT_EQ(row["low"], 8);
  EXPECT_EQ(row["high"], 68);
}

TEST_F(WhatifRefusalsTest, WordsThatAreNamedTwice) {
  const Outcome outputs = run_command({"whatif", trace(), "--models", "ser", "--outputs", "time,cache,time"});
  EXPECT_EQ(outputs.code, 2);
  EXPECT_THAT(outputs.errors, HasSubstr("--outputs: an output is named twice (found 'time'"));
}

TEST_F(WhatifRefusalsTest, ThePlainModelIsTheBaselineWhateverTheOrder) {
  const Words rest = {"--no-break-even", "--format", "json"};
  std::vector<json> rows;
  for (const char* models : {"ser,plain", "plain,ser", "ser"}) {
    Words words = {"--models", models};
    words.insert(words.end(), rest.begin(), rest.end());
    const Outcome outcome = ask(words);
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    rows.push_back(json::parse(outcome.output)["rows"]);
    EXPECT_EQ(rows.back()[0]["model"], "plain");
    EXPECT_EQ(rows.back()[0]["speed_up"], 1.0);
  }
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
}

TEST_F(WhatifRefusalsTest, ModelsOfFilesAreNamedInShort) {
  const std::string file = scratch_ / "t.pftrace";
  refused({"--models", "plain,ser", "--timeline", file, "--timeline-model", "wavefront"},
          HasSubstr("--timeline-model: the model is not among those compared (found 'wavefront'; expected one of plain "
                    "ser). Fix: add it to --models\n"));
  refused({"--models", "plain,ser:scope=sm", "--timeline", file, "--timeline-model", "ser:scope=pool"},
          HasSubstr("expected one of plain ser:scope=sm). Fix: add it to --models, or did you mean 'ser:scope=sm'?"));
  refused(
      {"--models", "plain,ser", "--timeline", file, "--timeline-model", "sera"},
      AllOf(HasSubstr("--timeline-model: unknown scheduler model (found 'sera'"), HasSubstr("did you mean 'ser'?")));
}

}  // namespace
}  // namespace rayreplay::test
