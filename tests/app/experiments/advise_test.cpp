// rayreplay advise, run as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

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
              HasSubstr("rank,kind,bits,efficiency,weighted_efficiency,gain,warp_events,name,formula"));
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
}

}  // namespace
}  // namespace rayreplay::test
