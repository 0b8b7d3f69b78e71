// `rayreplay results`, run as a user runs it, on databases that the writer wrote.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/app/run_command.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Results : public ::testing::Test {
 protected:
  void SetUp() override {
    write_made_up(database());
  }
  [[nodiscard]] std::string database() const {
    return scratch_ / "s.db";
  }
  [[nodiscard]] Outcome results(std::vector<std::string> words) const {
    words.insert(words.begin(), {"results", database()});
    return run_command(words);
  }
  [[nodiscard]] json rows(std::vector<std::string> words) const {
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = results(std::move(words));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    const json all = json::parse(outcome.output);
    return all.is_array() ? all : all.at("rows");
  }
  void expect_usage(std::vector<std::string> words, const ::testing::Matcher<std::string>& text) const {
    const Outcome outcome = results(std::move(words));
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    EXPECT_THAT(outcome.errors, text);
  }
  Scratch scratch_;
};

TEST_F(Results, PrintsAxesAndMetrics) {
  const Outcome outcome = results({});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("cache.l1.bytes (bytes)"), HasSubstr("l1_hit_rate"), Not(HasSubstr("machine.name"))));
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 66);
  const json part =
      rows({"--where", "cache.l1.bytes >= 262144 && packing = 'identity'", "--columns", "run,l1_hit_rate"});
  EXPECT_EQ(part.size(), 8U);
  EXPECT_EQ(part[0].size(), 2U);
  EXPECT_EQ(part[0]["run"], 48);
}

TEST_F(Results, ATableFitsTheScreen) {
  const auto first_line = [](const Outcome& outcome) { return outcome.output.substr(0, outcome.output.find('\n')); };
  // Eleven metrics, of which four are main ones, one of them the same in all rows.
  {
    sweep::ResultsWriter writer(scratch_ / "wide.db", made_up_sweep(), false);
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      sweep::ResultRow row = made_up_row(run);
      for (const char* name : {"l1_accesses", "l1_misses", "l1_filled_bytes", "l2_misses", "dram_read_bytes"}) {
        row.outcome.metrics.emplace_back(name, 1000.0 * static_cast<double>(run));
      }
      row.outcome.metrics.emplace_back("model_speed_up", 2.0);
      writer.add({row});
    }
  }
  const std::string wide = scratch_ / "wide.db";
  const Outcome all = run_command({"results", wide});
  EXPECT_THAT(first_line(all), AllOf(HasSubstr("l1_hit_rate"), HasSubstr("dram_bytes"), Not(HasSubstr("l1_misses")),
                                     Not(HasSubstr("model_speed_up"))));
  EXPECT_THAT(all.errors, HasSubstr("6 more metrics: --columns"));
  EXPECT_THAT(run_command({"results", wide, "--format", "csv"}).output,
              AllOf(HasSubstr("l1_misses"), HasSubstr("model_speed_up")));
  const Outcome chosen = run_command({"results", wide, "--columns", "run,l1_misses"});
  EXPECT_EQ(first_line(chosen), "run  l1_misses (accesses)");
  EXPECT_EQ(chosen.errors, "");
  EXPECT_THAT(chosen.output, HasSubstr("63,000"));
  // What was asked for stands behind the axes; the others of `best` may all be equal.
  const Outcome best = run_command({"results", wide, "best", "l1_misses", "-n", "2"});
  EXPECT_THAT(first_line(best), ::testing::ContainsRegex("packing +l1_misses .*l1_hit_rate"));
  EXPECT_THAT(first_line(best), HasSubstr("model_speed_up"));
  const Outcome front = run_command({"results", wide, "pareto", "l2_misses", "more:l1_accesses"});
  EXPECT_THAT(first_line(front), ::testing::ContainsRegex("packing +l2_misses .*l1_accesses .*l1_hit_rate"));
  // A key that is no axis can be asked for as well.
  const Outcome key = run_command({"results", wide, "best", "warp_size", "--less", "-n", "1"});
  EXPECT_THAT(first_line(key), HasSubstr("warp_size"));
}

TEST_F(Results, OtherFormsHoldTheSame) {
  const Outcome lines = results({"--format", "jsonl", "--columns", "run,packing"});
  EXPECT_THAT(lines.output, StartsWith("{\"run\":0,\"packing\":\"identity\"}\n"));
  const Outcome csv = results({"--format", "csv", "--columns", "run,packing"});
  EXPECT_THAT(csv.output, StartsWith("run,packing\r\n0,identity\r\n1,random:seed=1\r\n"));
  const json all = json::parse(results({"--format", "json"}).output);
  EXPECT_EQ(all["schema"], "rayreplay.results/1");
  EXPECT_EQ(all["sweep"]["failed"], 1);
  EXPECT_EQ(all["columns"][0]["role"], "about");
}

TEST_F(Results, AnswersQuestions) {
  const json best = rows({"best", "l1_hit_rate", "-n", "3"});
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0]["run"], 62);
  EXPECT_EQ(rows({"best", "l1_hit_rate", "--less", "-n", "1"})[0]["run"], 1);
  const json front = rows({"pareto", "less:dram_bytes", "l2_hit_rate"});
  EXPECT_GT(front.size(), 3U);
  const json indices = rows({"sensitivity", "l1_hit_rate", "--where", "cache.l1.ways <> 4"});
  ASSERT_EQ(indices.size(), 3U);
  EXPECT_EQ(indices[0]["parameter"], "cache.l1.bytes");
  EXPECT_EQ(indices[0]["design"], "grid");
  EXPECT_GT(indices[0]["first"], 0.8);
  const Outcome gaps = results({"sensitivity", "l1_hit_rate"});
  EXPECT_THAT(gaps.errors, AllOf(HasSubstr("63 of 64"), HasSubstr("not known from this design")));
  const json difference = rows({"compare", "0", "9"});
  EXPECT_EQ(difference[0]["name"], "cache.l1.bytes");
  EXPECT_EQ(difference[0]["ratio"], 2.0);
  EXPECT_EQ(difference.size(), 6U);
  const json sums = rows({"--query", "SELECT packing, count(*) AS n FROM runs GROUP BY packing"});
  EXPECT_EQ(sums[1]["n"], 32);
  const json errors = rows({"--errors"});
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0]["error"].get<std::string>(), HasSubstr("the cache cannot be"));
  EXPECT_EQ(results({"--config", "7"}).output, "# run 7\nwarp_size = 32\n");
}

TEST_F(Results, DrawsPictures) {
  for (const std::string& end : {std::string(".svg"), std::string(".png")}) {
    const std::vector<std::vector<std::string>> plots = {{"heatmap", "cache.l1.bytes", "cache.l1.ways", "l1_hit_rate"},
                                                         {"lines", "cache.l1.bytes", "l1_hit_rate"},
                                                         {"lines", "packing", "l1_hit_rate", "--by", "cache.l1.ways"},
                                                         {"pareto", "dram_bytes", "l2_hit_rate"}};
    for (std::size_t i = 0; i < plots.size(); ++i) {
      const std::string file = scratch_ / ("p" + std::to_string(i) + end);
      std::vector<std::string> words = {"plot"};
      words.insert(words.end(), plots[i].begin(), plots[i].end());
      words.insert(words.end(), {"-o", file});
      const Outcome outcome = results(words);
      ASSERT_EQ(outcome.code, 0) << outcome.errors;
      EXPECT_THAT(read_bytes(file), StartsWith(end == ".svg" ? "<svg xmlns" : "\x89PNG"));
    }
  }
  const std::string map = read_bytes(scratch_ / "p0.svg");
  EXPECT_THAT(map,
              AllOf(HasSubstr(">4 KiB<"), HasSubstr(">512 KiB<"), HasSubstr("means over"), Not(HasSubstr("<script"))));
  EXPECT_THAT(map, AllOf(HasSubstr(">0.225<"), HasSubstr("512 KiB, 8: 0.845 share"), HasSubstr("rotate(-90")));
  EXPECT_THAT(read_bytes(scratch_ / "p2.svg"), HasSubstr("random:seed=1"));
  // An existing picture is kept.
  EXPECT_EQ(results({"plot", "lines", "cache.l1.bytes", "l1_hit_rate", "-o", scratch_ / "p1.svg"}).code, 4);
}

TEST_F(Results, WritesAPage) {
  ASSERT_EQ(results({"report", "-o", scratch_ / "page.html"}).code, 0);
  const std::string page = read_bytes(scratch_ / "page.html");
  EXPECT_THAT(page, AllOf(HasSubstr("The best by l1_hit_rate"), HasSubstr("What moves l1_hit_rate"),
                          HasSubstr("the cache cannot be"), HasSubstr("feedface"), HasSubstr("powers_of_two"),
                          HasSubstr("Pareto front"), HasSubstr("<table class=\"matrix\">"),
                          HasSubstr("l1_hit_rate over cache.l1.ways"), HasSubstr("4 KiB, 8 KiB"),
                          HasSubstr("<summary>The sweep's file</summary>"), Not(HasSubstr("<script"))));
  EXPECT_LT(page.find("The best by"), page.find("Where it comes from"));
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href)=\"http")));
  ASSERT_EQ(results({"report", "-o", scratch_ / "again.html"}).code, 0);
  EXPECT_EQ(read_bytes(scratch_ / "again.html"), page);
}

TEST_F(Results, ExportsAreTheSameBytes) {
  // The same rows from another machine at another time, in another order.
  {
    sweep::ResultsWriter writer(scratch_ / "other.db", made_up_sweep(), false);
    writer.check_input({"t.rrt", "feedfacefeedfacefeedfacefeedface"});
    for (std::uint64_t run = kRuns; run-- > 0;) {
      sweep::ResultRow row = made_up_row(run);
      row.host = "elsewhere";
      row.started = "2027-01-01T00:00:00Z";
      row.outcome.seconds = 9;
      row.outcome.device = "NVIDIA H200";
      writer.add({row});
    }
  }
  for (const char* end : {".csv", ".jsonl"}) {
    const std::string a = scratch_ / (std::string("a") + end), b = scratch_ / (std::string("b") + end);
    ASSERT_EQ(results({"export", "-o", a}).code, 0);
    ASSERT_EQ(run_command({"results", scratch_ / "other.db", "export", "-o", b}).code, 0);
    EXPECT_EQ(read_bytes(a), read_bytes(b));
    EXPECT_THAT(read_bytes(a), AllOf(HasSubstr("configuration"), Not(HasSubstr("2026-01-31"))));
  }
  EXPECT_THAT(results({"export", "--times"}).output, HasSubstr("2026-01-31"));
}

TEST_F(Results, QuestionsPrintTheColumnsThatAreWanted) {
  const json all = rows({"best", "l1_hit_rate", "-n", "5"});
  const json some = rows({"best", "l1_hit_rate", "-n", "5", "--columns", "packing,run"});
  ASSERT_EQ(some.size(), 5U);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(some[i], json({{"packing", all[i]["packing"]}, {"run", all[i]["run"]}})) << "in the same order";
  }
  const json front = rows({"pareto", "l1_hit_rate", "less:cache.l1.bytes"});
  const json one = rows({"pareto", "l1_hit_rate", "less:cache.l1.bytes", "--columns", "run"});
  ASSERT_EQ(one.size(), front.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i], json({{"run", front[i]["run"]}}));
  }
  const Outcome table = results({"best", "l1_hit_rate", "--columns", "run,dram_bytes"});
  EXPECT_THAT(table.output, AllOf(StartsWith("run"), HasSubstr("dram_bytes"), Not(HasSubstr("l1_hit_rate"))));
  expect_usage({"best", "l1_hit_rate", "--columns", "packng"}, HasSubstr("'packing'"));
  expect_usage({"best", "l1_hit_rate", "-n", "0"},
               HasSubstr("the value is out of range (found 0; expected at least 1"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"sensitivity"},
           {"compare", "1", "2"},
           {"plot", "lines", "cache.l1.bytes", "l1_hit_rate", "-o", scratch_ / "x.svg"},
           {"report"},
           {"--config", "1"},
           {"--query", "SELECT run FROM runs"}}) {
    std::vector<std::string> call = words;
    call.insert(call.end(), {"--columns", "run"});
    expect_usage(call, AllOf(HasSubstr("--columns"), HasSubstr(words.front())));
  }
}

TEST_F(Results, MisspeltQuestions) {
  expect_usage({"bset", "l1_hit_rate"}, AllOf(HasSubstr("unknown subcommand"), HasSubstr("'best'")));
  expect_usage({"nonsense"}, HasSubstr("one of best, pareto, sensitivity"));
  expect_usage({"best", "l1_hit_rate", "--mosst", "3"}, AllOf(HasSubstr("results best"), HasSubstr("'--most'")));
  expect_usage({"best", "l1_hit_rate", "--formt", "csv"}, HasSubstr("'--format'"));
  expect_usage({"compare", "1", "2", "3"}, HasSubstr("rayreplay results compare --help"));
}

TEST_F(Results, BadInput) {
  expect_usage({"best", "l1_hit_rat"}, HasSubstr("'l1_hit_rate'"));
  expect_usage({"best", "cache.l1.bytes"}, HasSubstr("less or more"));
  expect_usage({"pareto", "dram_bytes"}, HasSubstr("two metrics"));
  expect_usage({"compare", "0", "64"}, HasSubstr("0 to 63"));
  expect_usage({"--config", "99"}, HasSubstr("0 to 63"));
  expect_usage({"--query", "DELETE FROM runs"}, HasSubstr("not read-only"));
  expect_usage({"--query", "SELECT nonsense FROM runs"}, HasSubstr("no such column: nonsense"));
  expect_usage({"--where", "cache.l1.byte = 1"}, HasSubstr("'cache.l1.bytes'"));
  expect_usage({"--columns", "packng"}, HasSubstr("'packing'"));
  expect_usage({"--format", "cvs"}, HasSubstr("'csv'"));
  expect_usage({"plot", "heatmpa", "a", "b", "c", "-o", scratch_ / "x.svg"}, HasSubstr("'heatmap'"));
  expect_usage({"plot", "heatmap", "cache.l1.bytes", "-o", scratch_ / "x.svg"}, HasSubstr("X Y METRIC"));
  expect_usage({"plot", "lines", "cache.l1.bytes", "packing", "-o", scratch_ / "x.svg"}, HasSubstr("holds texts"));
  expect_usage({"plot", "lines", "cache.l1.bytes", "l1_hit_rate", "-o", scratch_ / "x.gif"}, HasSubstr(".svg or .png"));
  expect_usage({"plot", "lines", "cache.l1.bytes", "l1_hit_rate"}, HasSubstr("needs a file"));
  expect_usage({"export", "-o", scratch_ / "x.xls"}, HasSubstr(".csv"));
  expect_usage({"plot", "lines", "cache.l1.bytes", "l1_hit_rate", "--where", "run < 0", "-o", scratch_ / "x.svg"},
               HasSubstr("nothing to draw"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "x.svg"));
  EXPECT_EQ(run_command({"results", scratch_ / "none.db"}).code, 3);
  std::ofstream(scratch_ / "text") << "no database, but a text that is long enough";
  const Outcome text = run_command({"results", scratch_ / "text"});
  EXPECT_EQ(text.code, 3);
  EXPECT_THAT(text.errors, HasSubstr("not a database"));
  EXPECT_EQ(results({"export", "-o", database()}).code, 2);
}

TEST_F(Results, TheReferenceNamesEveryOption) {
  const std::string reference = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/cli.md");
  const std::size_t begin = reference.find("\n## results\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = reference.substr(begin, reference.find("\n## ", begin + 1) - begin);
  const std::regex option("--[a-z][a-z-]*");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"best"}, {"pareto"}, {"sensitivity"}, {"compare"}, {"plot"}, {"report"}, {"export"}}) {
    std::vector<std::string> call = words;
    call.emplace_back("--help");
    const std::string help = results(call).output;
    for (auto match = std::sregex_iterator(help.begin(), help.end(), option); match != std::sregex_iterator();
         ++match) {
      EXPECT_TRUE(match->str() == "--help" || section.find(match->str()) != std::string::npos) << match->str();
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
