// Counts of a compute, a vertex and a fragment shader in a program without ray tracing: known numbers, and nothing
// changes for the program.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_command;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

class CountedWork : public testing::Test {
 protected:
  Outcome capture(const Words& options, const std::string& end = "") const {
    Words words = {"capture"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"-o", trace(), "--force", "--", RAYREPLAY_WORK, end});
    return run_command(words);
  }
  [[nodiscard]] std::string trace() const {
    return scratch_ / "t.rrt";
  }
  [[nodiscard]] json profile(const Words& more = {}) const {
    Words words = {"profile", trace(), "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }
  test::Scratch scratch_;
};

/// Numbers of a list's rows by stage of their shader.
std::map<std::string, std::multiset<std::uint64_t>> by_stage(const trace::Profile& profile, const auto& counts) {
  std::map<std::string, std::multiset<std::uint64_t>> result;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    result[to_string(profile.shaders[counts.shader[row]].stage)].insert(counts.lanes[row]);
  }
  return result;
}

/// As the shaders say (shaders/): compute with 80 invocations, of which 32 take the branch and 48 call a loop of 72
/// rounds; 6 vertices; 960 fragments, of which 192 are discarded and 384 of the rest take the branch.
TEST_F(CountedWork, HasTheKnownCounts) {
  const std::string plain = run_command({"capture", "--profile", "blocks", "-o", trace(), "--", RAYREPLAY_WORK}).errors;
  EXPECT_THAT(plain, HasSubstr("without ray-tracing"));
  for (const char* counters : {"all", "minimal"}) {
    for (const char* end : {"", "late"}) {
      const Outcome outcome = capture(
          {"--profile", "blocks,branches", "--block-counters", counters, "--profile-stages", "compute,graphics"}, end);
      ASSERT_EQ(outcome.code, 0) << outcome.errors;
      const trace::Profile found = trace::load_profile(trace());
      auto blocks = by_stage(found, found.block_counts);
      for (const std::uint64_t lanes : {80U, 32U, 48U, 72U, 120U}) {
        EXPECT_THAT(blocks["compute"], Contains(lanes)) << counters << end;
      }
      EXPECT_THAT(blocks["vertex"], Contains(6)) << counters << end;
      for (const std::uint64_t lanes : {960U, 192U, 768U, 384U}) {
        EXPECT_THAT(blocks["fragment"], Contains(lanes)) << counters << end;
      }
      auto branches = by_stage(found, found.branch_counts);
      EXPECT_EQ(branches["compute"], (std::multiset<std::uint64_t>{80, 120}));
      EXPECT_EQ(branches["fragment"], (std::multiset<std::uint64_t>{960, 768}));
      EXPECT_EQ(branches["vertex"], (std::multiset<std::uint64_t>{6}));
      for (const std::string& line : found.header.not_captured) {
        EXPECT_THAT(line, Not(HasSubstr("not counted"))) << counters << end;
      }
    }
  }
}

/// The program prints what its shaders wrote.
TEST_F(CountedWork, ChangesNothing) {
  const Outcome plain = capture({});
  for (const char* profile : {"blocks", "blocks,branches,loads", "values", "all"}) {
    const Outcome counted = capture({"--profile", profile, "--profile-stages", "all"});
    EXPECT_EQ(counted.code, 0) << counted.errors;
    EXPECT_THAT(plain.output, HasSubstr("results "));
    EXPECT_EQ(counted.output.substr(0, counted.output.find('\n')), plain.output.substr(0, plain.output.find('\n')))
        << profile;
  }
}

/// Loads and values of the compute shader: values[i] is i % 10.
TEST_F(CountedWork, HasLoadsAndValues) {
  ASSERT_EQ(capture({"--profile", "blocks,loads,values", "--profile-stages", "compute"}).code, 0);
  const json values = profile({"--rows", "values", "--top", "10"}).at("values");
  std::map<std::string, std::uint64_t> first;
  for (const json& row : values) {
    EXPECT_EQ(row["name"].get<std::string>().rfind("compute", 0), 0U) << row;
    if (row["place_lanes"] == 80) {
      first[row["value"]] = row["lanes"];
      EXPECT_EQ(row["subject"], "data.values[]");
    }
  }
  EXPECT_EQ(first.size(), 10U);
  for (std::uint32_t value = 0; value < 10; ++value) {
    EXPECT_EQ(first[std::to_string(value)], 8U) << value;
  }
}

/// Stages that are not asked for stay as they are.
TEST_F(CountedWork, CountsTheStagesThatAreAskedFor) {
  ASSERT_EQ(capture({"--profile", "blocks", "--profile-stages", "graphics"}).code, 0);
  const trace::Profile graphics = trace::load_profile(trace());
  const auto blocks = by_stage(graphics, graphics.block_counts);
  EXPECT_EQ(blocks.count("compute"), 0U);
  EXPECT_EQ(blocks.count("vertex") + blocks.count("fragment"), 2U);
  EXPECT_EQ(run_command({"validate", trace()}).code, 0);
  EXPECT_EQ(run_command({"shaders", trace()}).code, 0);
  EXPECT_EQ(run_command({"info", trace()}).code, 0);
  EXPECT_EQ(run_command({"profile", trace(), "--report", scratch_ / "report"}).code, 0);
}

/// A program that ends without destroying its pipelines and device has no counts, and the command says so.
TEST_F(CountedWork, NeedsTheEndOfThePipelines) {
  const Outcome outcome = capture({"--profile", "blocks", "--profile-stages", "all"}, "never");
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("results "));
}

TEST_F(CountedWork, RefusesStagesWithoutEffect) {
  EXPECT_EQ(capture({"--profile-stages", "compute"}).code, 2);
  EXPECT_EQ(capture({"--profile", "blocks", "--profile-stages", "comput"}).code, 2);
}

}  // namespace
}  // namespace rayreplay
