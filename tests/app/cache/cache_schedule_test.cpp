// rayreplay cache under the schedules of captures and of scheduler models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/cache/cache_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using CacheScheduleTest = CacheCommand;

TEST_F(CacheScheduleTest, CapturedScheduleIsTheDefaultWhereThereIsOne) {
  const std::string captured = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/bunny.rrt";
  const Outcome outcome = run_command({"cache", captured, "--machine", "h200", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json result = json::parse(outcome.output);
  EXPECT_THAT(result["configuration"]["schedule.distribution"].get<std::string>(), StartsWith("captured"));
  EXPECT_EQ(result["configuration"]["captured_sms"], true);
  // Of every warp with events it is known on which SM it ran.
  EXPECT_THAT(outcome.errors, Not(HasSubstr("note: schedule")));
}

// Captured warps of another size are left alone when a modelled order is asked for.
TEST_F(CacheScheduleTest, WarpsOfAnotherSizeThanCaptured) {
  const std::string captured = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/bunny.rrt";
  const Outcome outcome = run_command({"cache", captured, "--machine", "rtx4060-laptop", "--warp-size", "16", "--order",
                                       "z-order", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output)["configuration"]["warp_size"], 16);
}

// Half of the captured warps have no SM: the others stay where they were, and everybody is told.
TEST_F(CacheScheduleTest, CapturedScheduleSaysWhatItAssumes) {
  trace::Trace partly = trace::load(trace());
  trace::Launch& launch = partly.launches[0];
  launch.thread_warp.resize(launch.size.threads());
  launch.thread_lane.resize(launch.size.threads());
  for (std::uint32_t thread = 0; thread < launch.size.threads(); ++thread) {
    launch.thread_warp[thread] = thread / 32;
    launch.thread_lane[thread] = static_cast<std::uint8_t>(thread % 32);
  }
  const auto warps = static_cast<std::uint32_t>(launch.size.threads() / 32);
  for (std::uint32_t warp = 0; warp < warps / 2; ++warp) {
    launch.groups.warp.push_back(warp);
    launch.groups.sm.push_back(static_cast<std::uint16_t>(warp % 3));
    launch.groups.lane_mask.push_back(0xFFFF'FFFFU);
    launch.groups.clock.push_back(warp);
  }
  partly.header.warp_size = 32;
  trace::write(partly, scratch_ / "partly.rrt");
  const std::string note = "the capture does not say on which SM 36 of 72 warps with events ran: dealt out in turn";
  const Outcome outcome = ask({"--format", "json", "--report", scratch_ / "r"}, scratch_ / "partly.rrt");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("rayreplay: note: schedule captured: " + note));
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["configuration"]["schedule_note"], note);
  EXPECT_EQ(result["configuration"]["captured_sms"], true);
  EXPECT_THAT(read_bytes(scratch_ / "r/index.html"), HasSubstr(note));
}

TEST_F(CacheScheduleTest, SchedulerModelsRegroupTheWarps) {
  const json plain = answer({"--sms", "4"});
  EXPECT_EQ(plain["configuration"]["scheduler.model"], "plain");
  EXPECT_FALSE(plain["configuration"].contains("scheduler.hints"));
  const json wavefront = answer({"--sms", "4", "--model", "wavefront"});
  EXPECT_THAT(std::string(wavefront["configuration"]["scheduler.model"]), StartsWith("wavefront:"));
  const auto accesses = [](const json& result, const std::string& kind) {
    double sum = 0;
    for (const json& row : result["rows"]) {
      sum += row["level"] == "L1" && row["kind"] == kind ? row["accesses"].get<double>() : 0;
    }
    return sum;
  };
  EXPECT_EQ(accesses(plain, "state"), 0);
  EXPECT_GT(accesses(wavefront, "state"), 0);
  EXPECT_GT(accesses(wavefront, "payload"), accesses(plain, "payload")) << "homes are scattered";
  EXPECT_THAT(ask({"--model", "wavefront"}).output, HasSubstr("model    wavefront:"));
  const Outcome bound = ask({"--model", "oracle"});
  EXPECT_EQ(bound.code, 2);
  EXPECT_THAT(bound.errors, HasSubstr("is a bound"));
  const Outcome placed = ask({"--model", "ser", "--schedule", "scanline"});
  EXPECT_EQ(placed.code, 2);
  EXPECT_THAT(placed.errors, HasSubstr("the scheduler model places the warps itself"));
}

}  // namespace
}  // namespace rayreplay::test
