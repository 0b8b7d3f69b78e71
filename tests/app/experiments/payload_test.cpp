// Payloads and live state of captured shaders in access streams: each byte is charged once, as the same sizes by hand.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Ray generation of the capture keeps 24 bytes across its trace call, whose payload has 92 (tests/machine).
const std::string kOneWeekend = RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend.rrt";

std::map<std::string, double> payload_metrics(const std::string& trace, const Words& settings) {
  Words words = {"run", "--format", "json"};
  Words all = {"trace=" + trace, "machine.sms=2", "schedule.time=memory", "outputs=time,cache,traffic"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) {
    words.insert(words.end(), {"--set", setting});
  }
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  std::map<std::string, double> found;
  const json document = json::parse(outcome.output);
  for (const json& row : document["rows"]) {
    found[row["metric"]] = row["value"];
  }
  EXPECT_TRUE(found.contains("time_cycles"));
  return found;
}

TEST(Payload, IsThatOfTheCapturedShaders) {
  const auto usual = payload_metrics(kOneWeekend, {});
  EXPECT_EQ(usual, payload_metrics(kOneWeekend, {"stream.payload_bytes=-1"}));
  EXPECT_EQ(usual, payload_metrics(kOneWeekend, {"stream.payload_bytes=92"}));
  EXPECT_NE(usual, payload_metrics(kOneWeekend, {"stream.payload_bytes=32"}));
}

TEST(Payload, MovesOnce) {
  const std::string ser = "scheduler.model=ser";
  const auto usual = payload_metrics(kOneWeekend, {ser});
  EXPECT_EQ(usual, payload_metrics(kOneWeekend, {ser + ":live_state=24", "stream.payload_bytes=92"}))
      << "through memory: the rest of the live state moves";
  EXPECT_EQ(payload_metrics(kOneWeekend, {ser, "stream.payload_bytes=0"}),
            payload_metrics(kOneWeekend, {ser + ":live_state=116", "stream.payload_bytes=0"}))
      << "in registers: it moves with the live state";
  EXPECT_EQ(payload_metrics(kOneWeekend, {ser, "stream.payload_bytes=32"}),
            payload_metrics(kOneWeekend, {ser + ":live_state=24", "stream.payload_bytes=32"}));
}

/// A schedule file says which part of the live state is the payload.
TEST(Payload, OfASchedulesFileMovesOnceToo) {
  const Scratch scratch;
  for (const std::string& model : {std::string("ser"), std::string("compaction")}) {
    const std::string file = scratch / (model + ".h5");
    const Outcome outcome = run_command({"whatif", kOneWeekend, "--sms", "2", "--models", model, "--segments", file,
                                         "--no-break-even", "--no-sensitivity"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    for (const char* payload : {"-1", "0", "32"}) {
      const std::string key = std::string("stream.payload_bytes=") + payload;
      EXPECT_EQ(payload_metrics(kOneWeekend, {"scheduler.file=" + file, key}),
                payload_metrics(kOneWeekend, {"scheduler.model=" + model, key}))
          << model << ", " << payload;
    }
  }
}

class PayloadOfATraceWithoutModules : public SmallTrace {};

TEST_F(PayloadOfATraceWithoutModules, IsAssumed) {
  const auto usual = payload_metrics(trace(), {"scheduler.model=ser"});
  EXPECT_EQ(usual, payload_metrics(trace(), {"scheduler.model=ser:live_state=84", "stream.payload_bytes=32"}));
}

}  // namespace
}  // namespace rayreplay::test
