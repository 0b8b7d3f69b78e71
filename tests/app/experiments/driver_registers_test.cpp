// Occupancy from the registers that a driver names: each command takes those of the launch's pipeline unless others are
// given, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDriverNote = "a thread has 128 registers, as the driver says of pipeline 3 (Register Count)";

class DriverRegisters : public testing::Test {
 protected:
  /// A captured launch twice, of pipelines 3 (with 128 registers) and 4 (whose registers the driver does not name).
  void SetUp() override {
    trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/bunny.rrt");
    trace.launches.resize(1);
    trace.launches.push_back(trace.launches[0]);
    trace.launches[0].pipeline = 3;
    trace.launches[1].pipeline = 4;
    for (const std::uint32_t pipeline : {3U, 4U}) {
      trace::PipelineFacts& facts = trace.pipeline_facts.emplace_back();
      facts.pipeline = pipeline;
      facts.executables = {{"main", "", 0x3F00, 32, {}}};
    }
    trace.pipeline_facts[0].executables[0].statistics = {{"Register Count", "", trace::StatisticFormat::Uint64, 128}};
    path_ = scratch_ / "t.rrt";
    trace::write(trace, path_);
  }
  [[nodiscard]] static Outcome run(const std::vector<std::string>& words) {
    Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome;
  }
  [[nodiscard]] Outcome experiment(const std::string& outputs, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "run",   "--set",         "trace=" + path_, "--set", "outputs=" + outputs, "--set", "schedule.time=memory",
        "--set", "machine.sms=2", "--format",       "json"};
    for (const std::string& one : more) {
      words.insert(words.end(), {"--set", one});
    }
    return run(words);
  }
  [[nodiscard]] static json rows(const Outcome& outcome) {
    return json::parse(outcome.output)["rows"];
  }

  Scratch scratch_;
  std::string path_;
};

TEST_F(DriverRegisters, AreThoseOfAnExperiment) {
  for (const char* outputs : {"model", "time"}) {
    const Outcome usual = experiment(outputs, {});
    EXPECT_THAT(usual.errors, HasSubstr(kDriverNote)) << outputs;
    const json answer = json::parse(usual.output);
    EXPECT_EQ(answer["configuration"]["registers_per_thread"], 128);
    EXPECT_THAT(usual.output, HasSubstr("registers_per_thread = 128"));
    const Outcome given = experiment(outputs, {"registers_per_thread=128"});
    EXPECT_EQ(rows(usual), rows(given)) << outputs;
    EXPECT_THAT(given.errors, Not(HasSubstr("as the driver says")));
    const Outcome less = experiment(outputs, {"registers_per_thread=64"});
    EXPECT_NE(rows(usual), rows(less)) << "given numbers win, also the usual one";
    EXPECT_EQ(json::parse(less.output)["configuration"]["registers_per_thread"], 64);
    const Outcome unknown = experiment(outputs, {"launch=1"});
    EXPECT_EQ(rows(unknown), rows(less)) << "the driver names no registers of this pipeline";
    EXPECT_THAT(unknown.errors, Not(HasSubstr("as the driver says")));
  }
}

json quantity_of(const json& list, const char* key, const char* name) {
  const auto found = std::ranges::find(list, key, [&](const json& one) { return one.at(name).get<std::string>(); });
  return found == list.end() ? json() : *found;
}

TEST_F(DriverRegisters, AreCapturedInAComparison) {
  const std::vector<std::string> words = {"whatif", path_, "--models", "plain,ser", "--format", "json"};
  const Outcome usual = run(words);
  EXPECT_THAT(usual.errors, HasSubstr(kDriverNote));
  const json answer = json::parse(usual.output);
  EXPECT_EQ(answer["configuration"]["registers_per_thread"], 128);
  EXPECT_EQ(answer["resident_warps"], 65536 / 32 / 128);
  const json quantity = quantity_of(answer["quantities"], "registers_per_thread", "quantity");
  EXPECT_EQ(quantity["origin"], "captured");
  EXPECT_EQ(quantity["value"], 128);
  EXPECT_EQ(quantity["low"], 64) << "half to twice: another GPU's compiler gives another number";
  EXPECT_EQ(quantity["high"], 256);
  std::vector<std::string> with = words;
  with.insert(with.end(), {"--registers", "64"});
  const json given = json::parse(run(with).output);
  EXPECT_EQ(given["resident_warps"], 65536 / 32 / 64);
  EXPECT_EQ(quantity_of(given["quantities"], "registers_per_thread", "quantity")["origin"], "given");
}

TEST_F(DriverRegisters, AreCapturedInMemoryTime) {
  const Outcome usual = run({"whatif", path_, "--models", "plain,ser", "--outputs", "time", "--sms", "2",
                             "--break-even", "registers_per_thread", "--format", "json"});
  EXPECT_THAT(usual.errors, HasSubstr(kDriverNote));
  const json answer = json::parse(usual.output);
  const json quantity = quantity_of(answer["numbers"], "registers_per_thread", "quantity");
  EXPECT_EQ(quantity["origin"], "captured") << answer["numbers"].dump();
  EXPECT_EQ(quantity["value"], 128);
}

TEST_F(DriverRegisters, AreThoseOfTheCachesWarps) {
  const std::vector<std::string> words = {"cache", path_, "--sms", "2", "--no-distances", "--format", "json"};
  const auto warps_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run(all);
    return json::parse(outcome.output)["configuration"]["schedule.resident_warps"];
  };
  EXPECT_EQ(warps_of({}), 16);
  EXPECT_EQ(warps_of({"--registers", "64"}), 32);
  EXPECT_EQ(warps_of({"--launch", "1"}), 32);
}

TEST_F(DriverRegisters, StandWithTheirOccupancyInShaders) {
  const json answer = json::parse(run({"shaders", path_, "--machine", "rtx4060-laptop", "--format", "json"}).output);
  const json& occupancy = answer["occupancy"];
  EXPECT_EQ(occupancy["machine"], "rtx4060-laptop");
  EXPECT_EQ(occupancy["sm_registers"], 65536);
  const json& known = occupancy["pipelines"].at(0);
  EXPECT_EQ(known["pipeline"], 3);
  EXPECT_EQ(known["launches"], json::array({0}));
  EXPECT_EQ(known["registers"], 128);
  EXPECT_EQ(known["statistic"], "Register Count");
  EXPECT_EQ(known["resident_warps"], 16);
  const json& unknown = occupancy["pipelines"].at(1);
  EXPECT_EQ(unknown["launches"], json::array({1}));
  EXPECT_TRUE(unknown["registers"].is_null());
  EXPECT_TRUE(unknown["resident_warps"].is_null());
  const std::string text = run({"shaders", path_}).output;
  EXPECT_THAT(text, HasSubstr("on rtx4090: an SM has 65,536 registers and holds 48 warps\n"));
  EXPECT_THAT(text, HasSubstr("warp size    32 threads (the trace's)\n"));
  EXPECT_THAT(text, HasSubstr("no executable of some pipelines has a statistic that is known to be the registers"));
  const std::string rows = run({"shaders", path_, "--rows", "pipelines", "--format", "csv"}).output;
  EXPECT_THAT(rows, HasSubstr("pipeline,launches,executables,registers,statistic,resident_warps"));
  EXPECT_THAT(rows, HasSubstr("3,0,1,128,Register Count,16"));
  EXPECT_NE(run_command({"shaders", path_, "--machine", "rtx409"}).code, 0);
}

TEST_F(DriverRegisters, TakeTheWarpSizeOfTheTimeModelsInShaders) {
  const auto occupancy_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"shaders", path_, "--machine", "rtx4060-laptop", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(run(words).output)["occupancy"];
  };
  const auto expect = [](const json& occupancy, int lanes, const char* origin, int warps) {
    EXPECT_EQ(occupancy["warp_size"], lanes);
    EXPECT_EQ(occupancy["warp_size_origin"], origin);
    EXPECT_EQ(occupancy["pipelines"].at(0)["resident_warps"], warps);
  };
  expect(occupancy_of({}), 32, "captured", 16);
  expect(occupancy_of({"--warp-size", "64"}), 64, "given", 8);
  expect(occupancy_of({"--warp-size", "0"}), 32, "captured", 16);
  EXPECT_THAT(run({"shaders", path_, "--warp-size", "8"}).output, HasSubstr("warp size    8 threads (given)\n"));
  EXPECT_EQ(run_command({"shaders", path_, "--warp-size", "65"}).code, 2);
  EXPECT_EQ(run_command({"shaders", path_, "--warp-size", "-1"}).code, 2);

  trace::Trace trace = trace::load(path_);
  trace.header.warp_size = 16;  // a device with other warps than the machine
  for (trace::Launch& launch : trace.launches) {
    launch.thread_warp.clear();
    launch.thread_lane.clear();
    launch.groups = {};
    launch.data.events.group.clear();
  }
  trace.pipeline_facts[0].executables[0].statistics[0].value = 256;
  path_ = scratch_ / "narrow.rrt";
  trace::write(trace, path_);
  expect(occupancy_of({}), 16, "captured", 16);
  const json models = json::parse(
      run({"whatif", path_, "--models", "plain,ser", "--machine", "rtx4060-laptop", "--format", "json"}).output);
  EXPECT_EQ(models["resident_warps"], 16) << "the time models take the same";

  trace.header.warp_size = 0;
  path_ = scratch_ / "none.rrt";
  trace::write(trace, path_);
  expect(occupancy_of({}), 32, "machine", 8);
  EXPECT_THAT(run({"shaders", path_}).output, HasSubstr("warp size    32 threads (the machine's)\n"));
}

}  // namespace
}  // namespace rayreplay::test
