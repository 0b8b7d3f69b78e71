// rayreplay advise, run as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class AdviseTest : public SmallTrace {};

TEST_F(AdviseTest, RanksHintsInEveryFormat) {
  const std::vector<std::string> base = {"advise", trace(), "--bits", "6", "--candidates", "12"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return run_command(all);
  };
  const Outcome text = with({});
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("shader id alone"));
  EXPECT_THAT(text.output, HasSubstr("divergence inside a shader"));
  const Outcome first = with({"--format", "json"});
  ASSERT_EQ(first.code, 0) << first.errors;
  EXPECT_EQ(with({"--format", "json"}).output, first.output);  // no time, no order of workers
  const json answer = json::parse(first.output);
  EXPECT_EQ(answer["schema"], "rayreplay.advise/1");
  EXPECT_EQ(answer["bits"], "6");
  ASSERT_GT(answer["rows"].size(), 2U);
  EXPECT_LE(answer["rows"].size(), 14U);
  EXPECT_EQ(answer["rows"].back()["kind"], "plain");
  EXPECT_TRUE(answer["rows"].back()["rank"].is_null());
  EXPECT_EQ(answer["rows"][0]["rank"], 1);
  EXPECT_FALSE(answer["rows"][0]["formula"].get<std::string>().empty());
  const Outcome csv = with({"--format", "csv", "-o", scratch_ / "a.csv"});
  ASSERT_EQ(csv.code, 0) << csv.errors;
  EXPECT_THAT(read_bytes(scratch_ / "a.csv"),
              HasSubstr("rank,kind,bits,efficiency,weighted_efficiency,gain,warp_events,transactions_per_instruction,"
                        "transactions_per_ray,cycles,issue_cycles,transaction_cycles,memory_instructions,transactions,"
                        "sectors,name,formula"));
  // No accesses: nothing about transactions.
  EXPECT_EQ(answer["weights"], "none");
  EXPECT_TRUE(answer["rows"][0]["transactions"].is_null());
  EXPECT_TRUE(answer["address_costs"].is_null());
  EXPECT_FALSE(answer.contains("score"));
  EXPECT_THAT(text.output, HasSubstr("\nanswer   "));
  EXPECT_THAT(text.output, Not(HasSubstr("transactions")));
}

const std::string kWithAccesses = RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-memory.rrt";

TEST_F(AdviseTest, CountsTransactionsWhereTheTraceHasAccesses) {
  const auto answer_of = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"advise", kWithAccesses, "--candidates", "8", "--format", "json"});
    const Outcome outcome = run_command(more);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  };
  const json answer = answer_of({});
  EXPECT_EQ(answer["weights"], "calls, addresses");
  EXPECT_EQ(answer["configuration"]["stream.shader_accesses"], "auto");
  EXPECT_EQ(answer["address_costs"]["issue_per_cycle"], 4);
  EXPECT_EQ(answer["address_costs"]["issue_per_cycle_origin"], "published");
  EXPECT_EQ(answer["address_costs"]["transaction_cycles"], 1);
  EXPECT_EQ(answer["address_costs"]["transaction_cycles_origin"], "assumed");
  EXPECT_THAT(answer["score"].get<std::string>(), HasSubstr("--transaction-cycles"));
  for (const json& row : answer["rows"]) {
    EXPECT_EQ(row["cycles"].get<double>(), row["issue_cycles"].get<double>() + row["transaction_cycles"].get<double>());
    EXPECT_EQ(row["transaction_cycles"].get<double>(), row["transactions"].get<double>());
    EXPECT_EQ(row["transactions_per_ray"].get<double>(),
              row["transactions"].get<double>() / answer["launch"]["rays"].get<double>());
  }
  const json dear = answer_of({"--transaction-cycles", "40", "--set", "machine.issue_per_cycle=2"});
  EXPECT_EQ(dear["address_costs"]["transaction_cycles_origin"], "given");
  EXPECT_EQ(dear["address_costs"]["issue_per_cycle_origin"], "given");
  const json& plain = dear["rows"].back();
  EXPECT_EQ(plain["transaction_cycles"].get<double>(), 40 * plain["transactions"].get<double>());
  EXPECT_EQ(plain["issue_cycles"].get<double>(), 2 * answer["rows"].back()["issue_cycles"].get<double>());
  EXPECT_EQ(answer_of({"--shader-accesses", "off"})["weights"], "none");
}

TEST_F(AdviseTest, AnswersBeforeTheTable) {
  const Outcome nothing = run_command({"advise", kWithAccesses, "--candidates", "8"});
  ASSERT_EQ(nothing.code, 0) << nothing.errors;
  EXPECT_THAT(nothing.output, HasSubstr("\nanswer   nothing here helps: of 8 hints the best, "));
  EXPECT_THAT(nothing.output, HasSubstr("which is noise (below 0.5 %)"));
  const Outcome dear = run_command({"advise", kWithAccesses, "--transaction-cycles", "100"});
  ASSERT_EQ(dear.code, 0) << dear.errors;
  EXPECT_THAT(dear.output, HasSubstr("it rests on transactions: issue slots "));
  EXPECT_LT(dear.output.find("\nanswer   "), dear.output.find("\nrank "));
}

/// Also where they cost nothing.
TEST_F(AdviseTest, AnswersWithTheChangeOfTransactions) {
  for (const std::string cycles : {"0", "100"}) {
    std::vector<std::string> words{"advise", kWithAccesses, "--transaction-cycles", cycles, "--cost", "2=50"};
    const Outcome text = run_command(words);
    ASSERT_EQ(text.code, 0) << text.errors;
    words.insert(words.end(), {"--format", "json"});
    const json rows = json::parse(run_command(words).output)["rows"];
    ASSERT_GE(rows.size(), 3U);
    // The best hint; shader id alone is the last row but one.
    const double now = rows.front()["transactions"].get<double>();
    const double before = rows[rows.size() - 2]["transactions"].get<double>();
    ASSERT_NE(now, before);
    EXPECT_THAT(text.output, HasSubstr(fmt::format(", transactions {:+.1f} % (", (now / before - 1) * 100)));
  }
}

TEST_F(AdviseTest, TriesTheUsersHints) {
  const Outcome outcome = run_command({"advise", trace(), "--candidates", "0", "--hint", "mine:3=primitive % 8",
                                       "--hint", "far:1=distance > 2", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  ASSERT_EQ(answer["rows"].size(), 4U);
  EXPECT_THAT((std::set<std::string>{answer["rows"][0]["name"], answer["rows"][1]["name"]}),
              testing::ElementsAre("far", "mine"));
}

TEST_F(AdviseTest, SaysWhatIsWrong) {
  const Outcome typo = run_command({"advise", trace(), "--hint", "mine:3=primitve % 8"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.errors, HasSubstr("hint 'mine', column 1:\n  primitve % 8\n  ^"));
  EXPECT_THAT(typo.errors, HasSubstr("did you mean 'primitive'?"));
  const Outcome large = run_command({"advise", trace(), "--hint", "mine:1=x"});
  EXPECT_EQ(large.code, 3);
  EXPECT_THAT(large.errors, HasSubstr("does not fit 1 bit"));
  EXPECT_EQ(run_command({"advise", trace(), "--hint", "a:1=miss", "--hint", "a:1=bounce > 0"}).code, 2);
  EXPECT_EQ(run_command({"advise", trace(), "--bits", "33"}).code, 2);
  EXPECT_EQ(run_command({"advise", trace(), "--model", "plain"}).code, 2);
  EXPECT_EQ(run_command({"advise", trace(), "--hint-file", "f:4=" + trace()}).code, 3);
  EXPECT_EQ(run_command({"advise", trace(), "--transaction-cycles", "-1"}).code, 2);
  EXPECT_EQ(run_command({"advise", trace(), "--transaction-cycles", "nan"}).code, 2);
  EXPECT_EQ(run_command({"advise", kWithAccesses, "--set", "machine.l1_line_bytes=96"}).code, 2);
  const Outcome none = run_command({"advise", trace(), "--shader-accesses", "on"});
  EXPECT_NE(none.code, 0);
  EXPECT_THAT(none.errors, HasSubstr("the launch has no recorded accesses of shaders"));
}

}  // namespace
}  // namespace rayreplay::test
