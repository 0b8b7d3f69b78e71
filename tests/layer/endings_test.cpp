// Programs that end early or trace nothing, under `rayreplay capture`: the message names the cause, its consequence
// and the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/run_command.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Endings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    use_software_driver();
  }
  [[nodiscard]] Outcome capture(const std::string& scenario, std::vector<std::string> options = {},
                                bool record = true) const {
    std::vector<std::string> arguments = {"capture"};
    if (record) {
      options.insert(options.end(), {"--force", "-o", scratch_ / "t.rrt"});
    }
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", RAYREPLAY_SCENARIOS, scenario});
    return run_command(arguments);
  }
  /// The message behind "rayreplay: error: PROGRAM: ".
  static std::string error_of(const Outcome& outcome) {
    const std::string head = "rayreplay: error: " + std::string(RAYREPLAY_SCENARIOS) + ": ";
    const auto at = outcome.errors.find(head);
    return at == std::string::npos ? "no error: " + outcome.errors : outcome.errors.substr(at + head.size());
  }
  Scratch scratch_;
};

TEST_F(Endings, AFailureIsTheCause) {
  Outcome outcome = capture("crash-before");
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome),
              AllOf(StartsWith("the application was ended by signal 11 ("), HasSubstr(") before it traced rays"),
                    HasSubstr("without the capture"), Not(HasSubstr("frames"))));
  outcome = capture("exit-before");
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome), AllOf(StartsWith("the application ended with exit code 7 before it traced rays"),
                                       HasSubstr("without the capture")));
  outcome = capture("crash-behind", {"--frames", "3"});
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome), AllOf(StartsWith("the application was ended by signal 11 ("),
                                       HasSubstr("before it traced rays that were asked for")));
  outcome = capture("crash-before", {"--record", "off"}, false);
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome), StartsWith("the application was ended by signal 11 ("));
  outcome = run_command({"capture", "-o", scratch_ / "u.rrt", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.code, 10);
  EXPECT_THAT(outcome.errors,
              HasSubstr("error: sh: the application ended with exit code 7 before it made a Vulkan device"));
}

TEST_F(Endings, AFailureBehindALaunchIsToldBeforeTheTrace) {
  Outcome outcome = capture("exit-behind");
  EXPECT_EQ(outcome.code, 14);
  EXPECT_THAT(outcome.errors,
              StartsWith("rayreplay: the application ended with exit code 7; the trace has its recording up "
                         "to then\n"));
  EXPECT_THAT(outcome.errors, HasSubstr("t.rrt: 1 launch, 256 rays, "));
  outcome = capture("crash-behind", {"--record", "off"}, false);
  EXPECT_EQ(outcome.code, 14);
  EXPECT_THAT(outcome.errors, StartsWith("rayreplay: the application was ended by signal 11"));
}

TEST_F(Endings, WithoutAFailureWhatIsMissingIsTheCause) {
  Outcome outcome = capture("no-device");
  EXPECT_EQ(outcome.code, 10);
  EXPECT_THAT(error_of(outcome), StartsWith("nothing was recorded: the application made no Vulkan device"));
  outcome = capture("plain-device");
  EXPECT_EQ(outcome.code, 11);
  EXPECT_THAT(error_of(outcome),
              AllOf(StartsWith("the application made no device for ray tracing"),
                    HasSubstr("a device without VK_KHR_ray_tracing_pipeline"), HasSubstr("vulkaninfo")));
  outcome = capture("modules", {"--frames", "1.."});
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome), AllOf(StartsWith("the application traced no rays that were asked for"),
                                       HasSubstr("found 1 launch, none of them asked for"), HasSubstr("other frames")));
  // Asked for, but written into its command buffer with the application's own shaders.
  outcome = capture("recorded-ahead", {"--frames", "70"});
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome),
              AllOf(StartsWith("the application traced rays that were asked for, but none of their launches could be "
                               "captured"),
                    HasSubstr("found 80 launches"), HasSubstr("the notes above")));
  EXPECT_THAT(outcome.errors, HasSubstr("  this launch was written into its command buffer long before"));
  outcome = capture("modules", {"--window", "100,100,1,1"});
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome), AllOf(StartsWith("the launches that were captured hold no events"),
                                       HasSubstr("1 captured launch without events"), HasSubstr("--window")));
}

TEST_F(Endings, RayQueriesAreNamed) {
  Outcome outcome = capture("ray-queries");
  EXPECT_EQ(outcome.code, 11);
  EXPECT_THAT(error_of(outcome), AllOf(StartsWith("the application uses ray queries alone, which are not captured yet"),
                                       Not(HasSubstr("vulkaninfo"))));
  outcome = capture("ray-queries-beside");
  EXPECT_EQ(outcome.code, 12);
  EXPECT_THAT(error_of(outcome),
              StartsWith("the application launched no ray-tracing pipeline; its shaders use ray queries,"));
  EXPECT_THAT(outcome.errors, HasSubstr("shaders trace by ray queries: those rays are not captured"));
}

/// One number for one full buffer, in one place.
TEST_F(Endings, AFullBufferIsToldOnce) {
  const Outcome outcome = capture("many-launches", {"--memory", "64KiB", "--format", "json"});
  EXPECT_EQ(outcome.code, 0);
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = outcome.errors.find(text); at != std::string::npos; at = outcome.errors.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_GT(count("event buffer"), 0U) << outcome.errors;
  EXPECT_EQ(count("event buffer"), count("did not fit into the event buffer")) << outcome.errors;
  // By launch: none has two lines.
  for (int launch = 0; launch < 12; ++launch) {
    EXPECT_LE(count("launch " + std::to_string(launch) + ": "), 1U) << outcome.errors;
  }
  EXPECT_THAT(outcome.output, HasSubstr("\"threads_missing\": true"));
}

TEST_F(Endings, SampledEfficiencyIsMarked) {
  Outcome outcome = capture("modules", {"--every", "3", "--launch", "0"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("biased"), HasSubstr("not all threads were recorded")));
  outcome = capture("modules", {"--every", "3", "--launch", "0", "--format", "json"});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\"threads_missing\": true"), HasSubstr("\"recorded_threads\": 86")));
  outcome = capture("modules", {"--format", "json"});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\"threads_missing\": false"), HasSubstr("\"recorded_threads\": 256")));
  EXPECT_THAT(capture("modules").output, Not(HasSubstr("biased")));
}

}  // namespace
}  // namespace rayreplay::test
