// Measured launches: what a file may hold, and what every fault says.
#include "sim/calibration/measurements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::calibration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<Measurement> parsed(const std::string& csv) {
  return parse_measurements(csv, "data/m.csv", "data");
}

std::string refusal(const std::string& csv, ErrorKind kind) {
  return test::message_of(kind, [&csv] { return parsed(csv); });
}

TEST(Measurements, EveryColumn) {
  const std::vector<Measurement> rows = parsed(
      "name,value,trace,metric,use,weight,scheduler.model,machine.l1_bytes,scheduler.model:pool_warps\n"
      "first,0.5,a.rrt,model_milliseconds,,2,\"ser:scope=sm,live_state=40\",64KiB,\n"
      ",1e3,/b.rrt,stream_cycles,predict,,,,\n"
      "third,7,divergence:degree=2,model_cycles,fit,,ser,,4\n"
      "fourth,7,./divergence,model_cycles,,,,,\n");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].name, "first");
  EXPECT_EQ(rows[0].value, 0.5);
  EXPECT_EQ(rows[0].weight, 2);
  EXPECT_EQ(rows[0].use, Use::Fit);
  EXPECT_EQ(rows[0].settings.text("trace"), "data/a.rrt");
  EXPECT_EQ(rows[0].input, "a.rrt");
  EXPECT_EQ(rows[0].settings.text("outputs"), "model");
  EXPECT_EQ(rows[0].settings.text("scheduler.model"), "ser:scope=sm,live_state=40");
  EXPECT_EQ(rows[0].settings.integer("machine.l1_bytes"), 65536);
  EXPECT_EQ(rows[0].place, "data/m.csv:2");
  EXPECT_EQ(rows[1].name, "row 2");
  EXPECT_EQ(rows[1].value, 1000);
  EXPECT_EQ(rows[1].weight, 1);
  EXPECT_EQ(rows[1].use, Use::Predict);
  EXPECT_EQ(rows[1].settings.text("trace"), "/b.rrt");
  EXPECT_EQ(rows[1].settings.text("outputs"), "cache");
  EXPECT_FALSE(rows[1].settings.has("machine.l1_bytes"));
  EXPECT_EQ(rows[2].settings.text("workload"), "divergence:degree=2");
  EXPECT_TRUE(rows[2].settings.has("scheduler.model:pool_warps"));
  EXPECT_EQ(rows[3].settings.text("trace"), "data/divergence");
}

TEST(Measurements, FaultsOfTheFormat) {
  const std::string head = "trace,metric,value,weight,use\n";
  const auto input = [](const std::string& csv) { return refusal(csv, ErrorKind::Input); };
  EXPECT_THAT(input(""), HasSubstr("data/m.csv: the file has no header line"));
  EXPECT_THAT(input(head), HasSubstr("the file has no measurements"));
  EXPECT_THAT(input("trace,metric\na,b\n"),
              HasSubstr("data/m.csv:1: a column is missing (found trace, metric; expected a column 'value')"));
  EXPECT_THAT(input("trace,metric,value,trace\n"), HasSubstr("two columns have one name"));
  EXPECT_THAT(input(head + "a.rrt,model_cycles,1\n"), HasSubstr("data/m.csv:2: a row has too few cells"));
  EXPECT_THAT(input(head + "a.rrt,model_cycles,,,\n"),
              HasSubstr("data/m.csv:2, column 3 (value): a cell is empty (found ''; expected a value)"));
  EXPECT_THAT(input(head + ",model_cycles,1,,\n"), HasSubstr("column 1 (trace): a cell is empty"));
  for (const char* const bad : {"1.5 ms", "abc", "nan", "inf", "1e999", "0x10", "+1", "\"1,5\""}) {
    EXPECT_THAT(input(head + "a.rrt,model_cycles," + bad + ",,\n"),
                HasSubstr("column 3 (value): a cell is not a number"))
        << bad;
  }
  EXPECT_THAT(input(head + "a.rrt,model_cycles,1,0,\n"), HasSubstr("column 4 (weight): a weight is not above 0"));
  EXPECT_THAT(input(head + "a.rrt,model_cycles,1,-1,\n"), HasSubstr("a weight is not above 0"));
  EXPECT_THAT(input(head + "a.rrt,model_cycles,1,,predicted\n"),
              AllOf(HasSubstr("column 5 (use)"), HasSubstr("expected fit or predict"), HasSubstr("mean 'predict'?")));
}

TEST(Measurements, UnknownNamesAreNamedWithTheNearest) {
  const auto usage = [](const std::string& csv) { return refusal(csv, ErrorKind::Usage); };
  EXPECT_THAT(usage("trace,metric,valeu\na,b,1\n"),
              AllOf(HasSubstr("data/m.csv:1, column 3 (valeu): unknown column"), HasSubstr("mean 'value'?")));
  EXPECT_THAT(usage("trace,metric,value,machine.smz\na,b,1,2\n"),
              AllOf(HasSubstr("data/m.csv:1, column 4 (machine.smz): unknown key"), HasSubstr("mean 'machine.sms'?")));
  EXPECT_THAT(usage("trace,metric,value\na.rrt,model_miliseconds,1\n"),
              AllOf(HasSubstr("data/m.csv:2, column 2 (metric): unknown metric"), HasSubstr("'model_milliseconds'?")));
  EXPECT_THAT(usage("trace,metric,value,machine.sms\na.rrt,model_cycles,1,0\n"),
              AllOf(HasSubstr("data/m.csv:2, column 4 (machine.sms)"), HasSubstr("1 to 4096")));
  EXPECT_THAT(usage("trace,metric,value\ndivergence:degre=2,model_cycles,1\n"),
              AllOf(HasSubstr("data/m.csv:2, column 1 (trace)"), HasSubstr("'degree'")));
  for (const char* const own : {"workload", "outputs", "machine.name"}) {
    EXPECT_THAT(usage(std::string("trace,metric,value,") + own + "\n"),
                HasSubstr("the calibration sets this key itself"));
  }
  EXPECT_THAT(usage("trace,metric,value,explain.slack\n"), HasSubstr("no stage of 'run' and 'sweep' reads the key"));
}

TEST(Measurements, RowsAreHeldOutByNameOrNumber) {
  const std::string csv =
      "name,trace,metric,value\nsmall,a,model_cycles,1\nlarge,a,model_cycles,1\nlarge,a,model_cycles,1\n"
      "1,a,model_cycles,1\n";
  std::vector<Measurement> rows = parsed(csv);
  hold_out(rows, "large", "--hold-out");
  EXPECT_EQ(rows[0].use, Use::Fit);
  EXPECT_EQ(rows[1].use, Use::Predict);
  EXPECT_EQ(rows[2].use, Use::Predict);
  hold_out(rows, "1", "--hold-out");  // a name before a number
  EXPECT_EQ(rows[0].use, Use::Fit);
  EXPECT_EQ(rows[3].use, Use::Predict);
  rows.pop_back();
  hold_out(rows, "1", "--hold-out");
  EXPECT_EQ(rows[0].use, Use::Predict);
  for (const char* const bad : {"smal", "0", "4", "1.5", ""}) {
    EXPECT_THAT(test::message_of(ErrorKind::Usage,
                                 [&] {
                                   hold_out(rows, bad, "--hold-out");
                                   return 0;
                                 }),
                HasSubstr("--hold-out: no row has this name or number"));
  }
}

}  // namespace
}  // namespace rayreplay::calibration
