// rayreplay calibrate, run as a user runs it.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/report/calibration/calibration_answer.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CalibrateTest : public testing::Test {
 protected:
  /// The example of docs/calibration.md, with a store of the test's own.
  [[nodiscard]] Outcome calibrate(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"calibrate", example(),
                                      "--machine", "generic",
                                      "--fit",     "rt_steps_per_cycle=0.1..10",
                                      "--fit",     "issue_per_cycle=0.1..8",
                                      "--store",   scratch_ / "store",
                                      "--device",  "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  [[nodiscard]] std::string csv(const std::string& text) const {
    const std::string path = scratch_ / "m.csv";
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] static std::string document(const std::string& name) {
    return read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/" + name);
  }
  [[nodiscard]] static std::string example() {
    return RAYREPLAY_SOURCE_DIR "/examples/calibration/measured.csv";
  }

  Scratch scratch_;
};

double metric_of(const Outcome& outcome, const std::string& name) {
  const json answer = json::parse(outcome.output);
  for (const json& row : answer["rows"]) {
    if (row["metric"] == name) {
      return row["value"];
    }
  }
  return -1;
}

TEST_F(CalibrateTest, TheManualShowsTheExamplesAnswer) {
  const Outcome outcome = calibrate({"--hold-out", "glass"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("answer   2 keys fitted to "));
  const std::string manual = document("calibration.md");
  EXPECT_THAT(manual, HasSubstr("```csv\n" + read_bytes(example()) + "```\n"));
  std::istringstream lines(outcome.output);
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    // Not the path of the file, which is another one in the manual.
    if (!line.starts_with("measured ")) {
      EXPECT_THAT(manual, HasSubstr(line + "\n"));
      ++compared;
    }
  }
  EXPECT_GT(compared, 15U);
}

TEST_F(CalibrateTest, JsonHasEveryThingThatTheSurfacesName) {
  const Outcome outcome = calibrate({"--format", "json", "--hold-out", "glass"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["schema"], "rayreplay.calibration/1");
  EXPECT_EQ(keys_of(answer), (std::set<std::string>{"schema", "tool", "device", "measurements", "common", "fit",
                                                    "machine", "keys", "rows"}));
  const std::string surfaces = document("surfaces.md");
  const std::string section = surfaces.substr(surfaces.find("`rayreplay.calibration/1`"));
  for (const json* const object : {&answer, &answer["measurements"], &answer["fit"], &answer["keys"][0],
                                   &answer["rows"][0], &answer["fit"]["rms_error"]}) {
    expect_named(*object, section);
  }
  EXPECT_EQ(answer["common"]["machine.name"], "generic");
  EXPECT_EQ(answer["fit"]["rms_error_held_out"]["rows"], 1);
  EXPECT_EQ(answer["keys"].size(), 2U);
  EXPECT_EQ(answer["keys"][0]["origin"], "fitted");
  EXPECT_EQ(answer["machine"]["rt_steps_per_cycle"], answer["keys"][0]["after"]);
  std::size_t held_out = 0;
  for (const json& row : answer["rows"]) {
    if (row["use"] == "predict") {
      ++held_out;
    }
    EXPECT_EQ(row["trace_hash"].get<std::string>().size(), 32U);
    EXPECT_EQ(row["settings"]["workload"], row["trace"]);
    EXPECT_THAT(row["resolved"].get<std::string>(), HasSubstr("[machine]"));
  }
  EXPECT_EQ(held_out, 1U);
}

TEST_F(CalibrateTest, TheSameBytesForAnyThreadsAndStore) {
  for (const char* const format : {"table", "json"}) {
    const Outcome first = calibrate({"--format", format, "--threads", "1"});
    ASSERT_EQ(first.code, 0) << first.errors;
    EXPECT_EQ(calibrate({"--format", format, "--threads", "3"}).output, first.output);
    std::filesystem::remove_all(scratch_ / "store");
  }
}

TEST_F(CalibrateTest, CsvHasARowForEachMeasurementWithTheFittedValues) {
  const Outcome outcome = calibrate({"--format", "csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output,
              StartsWith("row,name,trace,metric,unit,use,weight,measured,before,after,error_before,error_after,"
                         "trace_hash,machine.rt_steps_per_cycle,machine.issue_per_cycle,machine,residual,"
                         "measurements_hash,tool_version,device\r\n"));
}

TEST_F(CalibrateTest, TheMachineFileHasTheFittedValuesAndTheirOrigins) {
  const std::string file = scratch_ / "fitted.toml";
  const Outcome outcome = calibrate({"--format", "json", "-o", file});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_THAT(read_bytes(file), AllOf(StartsWith("# Fitted by rayreplay "), HasSubstr("name = \"generic-fitted\""),
                                      HasSubstr("fitted = [\"issue_per_cycle\", \"rt_steps_per_cycle\"]"),
                                      HasSubstr("# 2 keys fitted to ")));
  // With that machine the models say what the table says.
  std::vector<std::string> words = {"run", "--store", "none", "--format", "json", "--set", "machine.name=" + file};
  const json& row = answer["rows"][0];
  for (const auto& [key, value] : row["settings"].items()) {
    words.insert(words.end(), {"--set", key + "=" + (value.is_string() ? value.get<std::string>() : value.dump())});
  }
  const Outcome run = run_command(words);
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(metric_of(run, row["metric"]), row["after"].get<double>());
  // Never overwritten silently, and refused before any work.
  const std::string before = read_bytes(file);
  const Outcome again = calibrate({"-o", file});
  EXPECT_EQ(again.code, 4);
  EXPECT_EQ(again.output, "");
  EXPECT_EQ(read_bytes(file), before);
  EXPECT_EQ(calibrate({"-o", file, "--force"}).code, 0);
  EXPECT_EQ(calibrate({"-o", example(), "--force"}).code, 2);
  EXPECT_EQ(calibrate({"-o", "-"}).code, 2);
}

TEST_F(CalibrateTest, TheAnswerNamesBoundsIdleKeysAndUnexplainedRows) {
  const std::string rows =
      "trace,metric,value,name\n\"divergence:warps=16\",model_milliseconds,1,slow\n"
      "\"divergence:warps=16,degree=2\",model_milliseconds,0.001,fast\n";
  const Outcome outcome = run_command({"calibrate", csv(rows), "--machine", "generic", "--fit", "clock_mhz=1000..1500",
                                       "--fit", "resident_warps", "--store", "none", "--max-evaluations", "30"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("not explained, off by more than 10 % after the fit: slow ("), HasSubstr("fast ("),
                    HasSubstr("machine.clock_mhz is on its "), HasSubstr("bound, 1"),
                    HasSubstr("no fitted row changes with machine.resident_warps around this value")));
}

// Measured values that are far off are still told in a line.
TEST_F(CalibrateTest, ATinyValueIsToldWithAnExponent) {
  const std::string rows = "trace,metric,value\ndivergence,model_cycles,1e-300\n";
  const Outcome outcome = run_command(
      {"calibrate", csv(rows), "--machine", "generic", "--fit", "sms", "--store", "none", "--max-evaluations", "9"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::ContainsRegex("[0-9.]+e\\+30[0-9] %"));
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LT(line.size(), 250U) << line;
  }
}

TEST(CalibrationAnswer, SaysWhereTheSecondSearchEnded) {
  std::vector<calibration::Measurement> measurements(1);
  measurements[0].name = "row 1";
  measurements[0].metric = "model_cycles";
  measurements[0].value = 100;
  const calibration::CalibrationOptions options;
  calibration::Calibration result;
  result.rows = {{.before = 110, .after = 101, .trace_hash = "", .configuration = "", .device = ""}};
  for (const char* key : {"machine.sms", "machine.clock_mhz"}) {
    result.keys.emplace_back().key = {.key = key, .unit = "", .value = 4, .low = 1, .high = 100};
    result.keys.back().value = 8;
  }
  const auto answer = [&] { return report::calibration_answer({"m.csv", "", measurements, options, result}); };
  EXPECT_THAT(answer(), testing::Not(HasSubstr("second search")));
  result.cost_after = 1e-4;
  Eigen::VectorXd values(2);
  values << 30, 8;
  result.other = {values, 1.1e-4, {true, false}};
  EXPECT_THAT(answer(),
              AllOf(HasSubstr("a second search, from the opposite corner of the bounds, ended at machine.sms "
                              "30 (RMS error 1.05 %): as good, so that these rows do not determine the values"),
                    testing::Not(HasSubstr("machine.clock_mhz 8 (RMS"))));
  result.other->cost = 9e-4;
  EXPECT_THAT(answer(), HasSubstr("30 (RMS error 3.00 %): worse, but the fit has several minima"));
}

TEST_F(CalibrateTest, Faults) {
  const auto refused = [this](const std::string& text, const std::vector<std::string>& more, int code) {
    std::vector<std::string> words = {"calibrate", csv(text), "--machine", "generic", "--store", "none"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    return outcome.errors;
  };
  const std::string good = "trace,metric,value\ndivergence,model_cycles,1000\n";
  EXPECT_THAT(refused(good, {}, 2), HasSubstr("an option is missing (expected --fit"));
  EXPECT_THAT(refused(good, {"--fit", "clock"}, 2), HasSubstr("unknown key of a machine"));
  EXPECT_THAT(refused(good, {"--fit", "sms", "--residual", "ration"}, 2), HasSubstr("did you mean 'ratio'?"));
  EXPECT_THAT(refused(good, {"--fit", "sms", "--set", "outputs=simt"}, 2), HasSubstr("calibrate sets this key itself"));
  EXPECT_THAT(refused(good, {"--fit", "sms", "--set", "explain.slack=1"}, 2), HasSubstr("no stage of 'run'"));
  EXPECT_THAT(refused(good, {"--fit", "sms", "--hold-out", "row 2"}, 2), HasSubstr("mean 'row 1'?"));
  EXPECT_THAT(refused(good, {"--fit", "sms", "--format", "jsn"}, 2), HasSubstr("json"));
  EXPECT_THAT(refused("", {"--fit", "sms"}, 3), HasSubstr("m.csv: the file has no header line"));
  EXPECT_THAT(refused("trace,metric,value\ndivergence,model_cycles,1 ms\n", {"--fit", "sms"}, 3),
              HasSubstr("m.csv:2, column 3 (value): a cell is not a number (found '1 ms'; expected"));
  EXPECT_THAT(refused("trace,metric,value\nnone.rrt,model_cycles,1\n", {"--fit", "sms"}, 3), HasSubstr("none.rrt"));
  const Outcome none = run_command({"calibrate", scratch_ / "none.csv", "--machine", "generic", "--fit", "sms"});
  EXPECT_EQ(none.code, 3);
  const Outcome machine = run_command({"calibrate", csv(good), "--machine", "generci", "--fit", "sms"});
  EXPECT_EQ(machine.code, 2);
  EXPECT_THAT(machine.errors, HasSubstr("did you mean 'generic'?"));
}

}  // namespace
}  // namespace rayreplay::test
