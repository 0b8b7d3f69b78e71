// rayreplay capture --alternate as a user runs it, on lavapipe: a program with its own shaders and with rewritten ones
// in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/student_t.hpp"
#include "tests/app/run_command.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

/// Modules that are exact, and modules that are right for the captured program alone.
class Alternate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    use_software_driver();
    shared_ = std::make_unique<Scratch>();
    ASSERT_EQ(run(program({"--instruction", "5"}), {"--profile", "blocks", "-o", *shared_ / "t.rrt"}).code, 0);
    ASSERT_EQ(run_command({"optimise", *shared_ / "t.rrt", "-o", exact()}).code, 0);
    ASSERT_EQ(run_command({"optimise", *shared_ / "t.rrt", "-o", assumed(), "--assume-profile"}).code, 0);
  }
  static void TearDownTestSuite() {
    shared_.reset();
  }
  static std::string exact() {
    return *shared_ / "exact";
  }
  static std::string assumed() {
    return *shared_ / "assumed";
  }
  static Words program(Words more) {
    Words all{RAYREPLAY_SWITCH_DISPATCH, "--size", "32x16", "--frames", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Outcome run(const Words& app, Words options) {
    options.insert(options.begin(), "capture");
    options.emplace_back("--");
    options.insert(options.end(), app.begin(), app.end());
    return run_command(options);
  }
  [[nodiscard]] std::string picture() const {
    return scratch_ / "p.png";
  }
  [[nodiscard]] Outcome compare(const std::string& modules, const std::string& number, Words more = {}) const {
    more.insert(more.begin(), {"--record", "off", "--shaders", modules, "--alternate", "2"});
    return run(program({"--instruction", number, "--image", picture()}), more);
  }
  Scratch scratch_;

 private:
  static inline std::unique_ptr<Scratch> shared_;
};

TEST_F(Alternate, EqualPicturesAndTheIntervalOfTheRuns) {
  const Outcome outcome = compare(exact(), "5", {"--picture", picture(), "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json found = json::parse(outcome.output);
  EXPECT_EQ(found["schema"], "rayreplay.alternation/1");
  EXPECT_THAT(found["verdict"].get<std::string>(), HasSubstr("Pictures are equal bit for bit"));
  EXPECT_EQ(found["shaders"]["replaced"].size(), 1U);
  EXPECT_TRUE(found["shaders"]["not_asked_for"].empty());
  ASSERT_EQ(found["runs"].size(), 4U);
  const std::vector<std::string> kinds{"own", "changed", "changed", "own"};
  std::vector<double> own;
  std::vector<double> changed;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found["runs"][i]["kind"], kinds[i]);
    EXPECT_EQ(found["runs"][i]["launches"], 2U);  // three frames, one of which warms up
    (kinds[i] == "own" ? own : changed).push_back(found["runs"][i]["milliseconds"].get<double>());
  }
  const std::vector<double> changes{changed[0] / own[0] - 1, changed[1] / own[1] - 1};
  const MeanInterval expected = mean_interval(changes, 0.95);
  EXPECT_DOUBLE_EQ(found["rows"][1]["change"].get<double>(), expected.mean);
  EXPECT_DOUBLE_EQ(found["rows"][1]["change_half_width"].get<double>(), expected.half_width);
  EXPECT_TRUE(found["rows"][0]["change"].is_null());
}

TEST_F(Alternate, AnotherPictureIsSaidAndHasAnExitCode) {
  const Outcome outcome = compare(assumed(), "6", {"--picture", picture()});
  EXPECT_EQ(outcome.code, 13) << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("Pictures differ"), HasSubstr("the program's own")));
  const Outcome same = compare(assumed(), "5", {"--picture", picture(), "--force"});
  EXPECT_EQ(same.code, 0) << same.errors;
}

TEST_F(Alternate, PicturesThatChangeByThemselvesProveNothing) {
  // The picture is a clock, which differs in every run.
  const std::string clock = scratch_ / "clock";
  std::string line = "date +%s%N > " + clock + "; exec";
  for (const std::string& word : program({"--instruction", "5"})) {
    line += " " + word;
  }
  const Outcome outcome =
      run({"/bin/sh", "-c", line}, {"--record", "off", "--shaders", exact(), "--alternate", "2", "--picture", clock});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("own pictures differ from run to run, so they prove nothing"));
}

TEST_F(Alternate, NothingIsOverwrittenOrTakenForAnotherRunsPicture) {
  std::ofstream(picture()) << "mine";
  const Outcome kept = compare(exact(), "5", {"--picture", picture()});
  EXPECT_EQ(kept.code, 4);
  EXPECT_THAT(kept.errors, AllOf(HasSubstr(picture()), HasSubstr("--force")));
  EXPECT_EQ(read_bytes(picture()), "mine");
  const Outcome none = compare(exact(), "5", {"--picture", scratch_ / "other.png"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.errors, AllOf(HasSubstr("other.png"), HasSubstr("the program wrote no such picture")));
  const Outcome folder = compare(exact(), "5", {"--picture", scratch_ / "."});
  EXPECT_EQ(folder.code, 4);
}

TEST_F(Alternate, UsageIsExplained) {
  const auto refused = [](const Words& options, const std::string& reason) {
    const Outcome outcome = run(program({}), options);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.errors, HasSubstr(reason));
    EXPECT_TRUE(outcome.output.empty());
  };
  refused({"--alternate", "2", "--record", "off"}, "nothing to compare");
  refused({"--alternate", "2", "--shaders", exact()}, "add --record off");
  refused({"--alternate", "1", "--record", "off", "--shaders", exact()}, "2 to 10000");
  refused({"--record", "off", "--shaders", exact(), "--picture", "p.png"}, "--alternate N");
  refused({"--record", "off", "--shaders", exact(), "--warm-up", "2"}, "--alternate N");
  const Outcome warm =
      run(program({}), {"--alternate", "2", "--record", "off", "--shaders", exact(), "--warm-up", "3"});
  EXPECT_EQ(warm.code, 3);
  EXPECT_THAT(warm.errors, AllOf(HasSubstr("3 launches"), HasSubstr("--warm-up")));
}

/// Modules of another program, SER on a device without it: no verdict.
TEST_F(Alternate, AChangeWithoutEffectIsNoAnswer) {
  const Words other{RAYREPLAY_ONE_WEEKEND, "--size", "32x16", "--spp", "1", "--frames", "2"};
  for (const auto& [options, found] : std::vector<std::pair<Words, std::string>>{
           {{"--shaders", exact()}, "none of its modules"}, {{"--insert-ser"}, "the device cannot reorder"}}) {
    Words all{"--record", "off", "--alternate", "2"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(other, all);
    EXPECT_EQ(outcome.code, 6);
    EXPECT_THAT(outcome.errors, AllOf(HasSubstr("nothing of the program is changed"), HasSubstr(found)));
    EXPECT_TRUE(outcome.output.empty());
  }
}

TEST_F(Alternate, AFailingProgramIsNotCompared) {
  std::string line = "true";
  for (const std::string& word : program({})) {
    line += (line == "true" ? "; " : " ") + word;
  }
  const Outcome outcome =
      run({"/bin/sh", "-c", line + "; exit 7"}, {"--record", "off", "--shaders", exact(), "--alternate", "2"});
  EXPECT_EQ(outcome.code, 14);
  EXPECT_THAT(outcome.errors, HasSubstr("exit code 7"));
  EXPECT_TRUE(outcome.output.empty());
}

}  // namespace
}  // namespace rayreplay::test
