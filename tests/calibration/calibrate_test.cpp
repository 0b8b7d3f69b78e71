// Calibration against synthetic truth: measurements are what the models say of a changed machine.
#include "sim/calibration/calibrate.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "base/error.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/machine_settings.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::calibration {
namespace {

using experiment::Evaluator;
using experiment::Settings;
using testing::AllOf;
using testing::HasSubstr;

struct Launch {
  const char* trace;
  const char* metric;
  int steps;           ///< scheduler.steps_per_ray
  const char* shader;  ///< cost of closest-hit shaders
};

constexpr const char* kMilliseconds = "model_milliseconds";

/// Launches that the issue rate, the rate of visits and their latency limit in turn.
const std::vector<Launch>& launches() {
  static const std::vector<Launch> list = {{"shader-cost:ratio=10,warps=512", kMilliseconds, 4, "400"},
                                           {"shader-cost:ratio=2,warps=512", kMilliseconds, 60, "20"},
                                           {"divergence:degree=4,warps=1024", kMilliseconds, 30, "90"},
                                           {"divergence:degree=1,warps=16", kMilliseconds, 200, "1"},
                                           {"divergence:degree=2,warps=40", "model_cycles", 100, "5"},
                                           {"divergence:degree=8,warps=2048", "model_cycles", 8, "30"}};
  return list;
}

Settings common(const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set("machine.name", "generic", "--machine");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "--set");
  }
  return settings;
}

/// The values of a machine with these keys, as a file of measurements; each value times its factor.
std::string measured_on(const std::vector<std::string>& truth, const std::vector<double>& factors = {}) {
  Evaluator evaluator({});
  std::string csv = "trace,metric,scheduler.steps_per_ray,shader_costs.closest-hit,value\n";
  for (std::size_t i = 0; i < launches().size(); ++i) {
    const Launch& one = launches()[i];
    Settings settings = common(truth);
    settings.set("workload", one.trace, "");
    settings.set("outputs", "model", "");
    settings.set("scheduler.steps_per_ray", std::int64_t{one.steps}, "");
    settings.set("shader_costs.closest-hit", one.shader, "");
    const Settings complete = experiment::complete(settings);
    const experiment::Outcome outcome = evaluator.evaluate({&complete, 1}).front();
    EXPECT_FALSE(outcome.failure) << (outcome.failure ? format_error(outcome.failure->info) : "");
    for (const auto& [name, value] : outcome.metrics) {
      if (name == one.metric) {
        csv += fmt::format("\"{}\",{},{},{},{}\n", one.trace, one.metric, one.steps, one.shader,
                           value * (i < factors.size() ? factors[i] : 1));
      }
    }
  }
  return csv;
}

struct Asked {
  std::string csv;
  std::vector<std::string> keys;
  std::vector<std::string> set{};
  Residual residual = Residual::Ratio;
  std::size_t most_evaluations = 200;
  std::vector<std::string> held_out{};
};

Calibration calibrated(const Asked& asked) {
  CalibrationOptions options;
  options.common = common(asked.set);
  options.keys =
      parse_fitted_keys(asked.keys, experiment::complete(options.common, experiment::NamedInput::Elsewhere), "--fit");
  options.residual = asked.residual;
  options.most_evaluations = asked.most_evaluations;
  std::vector<Measurement> rows = parse_measurements(asked.csv, "m.csv", "");
  for (const std::string& row : asked.held_out) {
    hold_out(rows, row, "--hold-out");
  }
  Evaluator evaluator({});
  return calibrate(rows, options, evaluator);
}

std::string error_of(const Asked& asked, ErrorKind kind = ErrorKind::Usage) {
  return test::message_of(kind, [&asked] { return calibrated(asked); });
}

TEST(Calibrate, OneKeyIsFoundAgain) {
  const Calibration found = calibrated({measured_on({"machine.clock_mhz=1830"}), {"clock_mhz"}});
  EXPECT_NEAR(found.keys[0].value, 1830, 0.01);
  EXPECT_EQ(found.keys[0].key.low, 750);
  EXPECT_EQ(found.keys[0].key.high, 3000);
  EXPECT_EQ(found.keys[0].key.from, BoundsFrom::Factor);
  EXPECT_EQ(found.keys[0].known, Known::Determined);
  EXPECT_LT(found.cost_after, 1e-10);
  EXPECT_GT(found.cost_before, 0.01);
  EXPECT_EQ(found.machine.clock_mhz, found.keys[0].value);
  EXPECT_EQ(found.machine.origin("clock_mhz"), machine::Origin::Fitted);
  EXPECT_EQ(found.machine.origin("sms"), machine::Origin::Assumed);
  const machine::Machine read = machine::parse_machine(machine::to_toml_with_origins(found.machine), "f.toml");
  EXPECT_EQ(read.clock_mhz, found.machine.clock_mhz);
  EXPECT_EQ(read.origin("clock_mhz"), machine::Origin::Fitted);
}

TEST(Calibrate, TwoKeysAreFoundAgainOneOfThemWhole) {
  const Calibration found = calibrated({measured_on({"machine.sms=23", "machine.rt_steps_per_cycle=0.7"}),
                                        {"machine.sms=8..128", "machine.rt_steps_per_cycle=0.1..10"}});
  EXPECT_EQ(found.keys[0].value, 23);
  EXPECT_NEAR(found.keys[1].value, 0.7, 7e-4);
  EXPECT_EQ(found.machine.sms, 23U);
}

TEST(Calibrate, ThreeKeysAreFoundAgain) {
  const Calibration found =
      calibrated({measured_on({"machine.issue_per_cycle=0.6", "machine.rt_steps_per_cycle=1.4",
                               "machine.rt_test_latency_cycles=29"}),
                  {"issue_per_cycle=0.2..16", "rt_steps_per_cycle=0.1..10", "rt_test_latency_cycles=0..400"}});
  EXPECT_NEAR(found.keys[0].value, 0.6, 0.002);  // no limit at the start, where it is 4
  EXPECT_NEAR(found.keys[1].value, 1.4, 0.005);
  EXPECT_NEAR(found.keys[2].value, 29, 0.3);
  EXPECT_TRUE(found.partners.empty());
  for (const CalibratedKey& key : found.keys) {
    EXPECT_EQ(key.known, Known::Determined) << key.key.key;
  }
}

// The slow twin: every clock from 1200 to 1800 MHz in steps of 0.1.
TEST(Calibrate, NoisyMeasurementsGiveTheLeastSquareOfADenseSearch) {
  const std::vector<double> factors = {1.05, 0.93, 1.02, 1.11, 0.97, 1};
  const std::string csv = measured_on({}, factors);
  const Calibration found = calibrated({csv, {"clock_mhz"}});
  // Cycles do not change with the clock but for traffic, which `plain` does not have: milliseconds are cycles / clock.
  double best = 0, least = 1e300;
  for (double clock = 1200; clock <= 1800; clock += 0.1) {
    double sum = 0;
    for (std::size_t i = 0; i < launches().size(); ++i) {
      const bool in_time = launches()[i].metric == std::string(kMilliseconds);
      const double residual = (in_time ? std::log(1500 / clock) : 0) - std::log(factors[i]);
      sum += residual * residual;
    }
    if (sum < least) {
      least = sum;
      best = clock;
    }
  }
  EXPECT_NEAR(found.keys[0].value, best, 0.2);
  EXPECT_NEAR(found.cost_after, least, 1e-8);
  ASSERT_TRUE(found.keys[0].standard_error);
  // Four of six residuals have the derivative -1 by ln clock.
  EXPECT_NEAR(*found.keys[0].standard_error, best * std::sqrt(least / 5) / 2, 0.2);
  EXPECT_NEAR(*found.keys[0].percent_moves, best * 0.01 / 2, 0.01);
}

TEST(Calibrate, ABoundHoldsAndIsNamed) {
  const Calibration found = calibrated({measured_on({"machine.clock_mhz=1830"}), {"clock_mhz=1000..1700"}});
  EXPECT_EQ(found.keys[0].value, 1700);
  EXPECT_TRUE(found.keys[0].on_high());
  EXPECT_EQ(found.keys[0].known, Known::Held);
  EXPECT_EQ(found.keys[0].key.from, BoundsFrom::Given);
  const Calibration beyond = calibrated({measured_on({"machine.clock_mhz=1830"}), {"clock_mhz=1700..1900"}});
  EXPECT_NEAR(beyond.keys[0].value, 1830, 0.01);
  EXPECT_EQ(beyond.keys[0].key.value, 1500);  // before: the machine's own, outside of the bounds
}

TEST(Calibrate, RowsHeldOutDoNotCount) {
  const std::vector<double> factors = {1, 3, 1, 1, 1, 1};
  const Asked asked{.csv = measured_on({"machine.clock_mhz=1830"}, factors), .keys = {"clock_mhz"}, .held_out = {"2"}};
  const Calibration found = calibrated(asked);
  EXPECT_NEAR(found.keys[0].value, 1830, 0.01);
  ASSERT_EQ(found.rows.size(), 6U);
  EXPECT_GT(found.rows[1].after, 0);
  EXPECT_NEAR(found.rows[1].before / found.rows[1].after, 1830.0 / 1500, 1e-5);
  EXPECT_EQ(found.rows[1].trace_hash.size(), 32U);
  EXPECT_THAT(found.rows[1].configuration, HasSubstr("clock_mhz = 18"));
}

TEST(Calibrate, DifferencesAndWeights) {
  std::string csv = measured_on({"machine.clock_mhz=1830"}, {1, 1, 1, 1.5, 1, 1});
  Asked asked{.csv = csv, .keys = {"clock_mhz"}, .residual = Residual::Difference};
  const double unweighted = calibrated(asked).keys[0].value;
  EXPECT_GT(std::abs(unweighted - 1830), 0.5);
  // The wrong row counts almost nothing.
  csv.insert(csv.find('\n'), ",weight");
  for (std::size_t at = csv.find('\n') + 1, row = 0; at < csv.size(); at = csv.find('\n', at) + 1, ++row) {
    csv.insert(csv.find('\n', at), row == 3 ? ",1e-6" : ",1");
  }
  asked.csv = csv;
  EXPECT_NEAR(calibrated(asked).keys[0].value, 1830, 0.05);
}

TEST(Calibrate, KeysThatActAlikeAreToldTogether) {
  // Issue rate and rate of visits scale all cycles; the clock scales them back, and cycles are not measured.
  std::string csv = measured_on({"machine.clock_mhz=1830", "machine.issue_per_cycle=0.6"});
  csv.erase(csv.find("\"divergence:degree=2"));
  const Calibration found = calibrated({csv,
                                        {"clock_mhz=500..5000", "issue_per_cycle=0.2..16", "rt_steps_per_cycle=0.1..8",
                                         "rt_test_latency_cycles=5..500"}});
  EXPECT_GE(found.partners.size(), 2U);
  EXPECT_EQ(found.keys[0].known, Known::Undetermined);
  EXPECT_GT(*found.condition, 50);
}

TEST(Calibrate, AnIdleKeyKeepsItsValueAndOrigin) {
  // 16 warps on 32 SMs: no SM is ever full.
  const std::string csv =
      "trace,metric,value\n\"divergence:degree=1,warps=16\",model_milliseconds,0.01\n"
      "\"divergence:degree=2,warps=16\",model_milliseconds,0.01\n";
  const Calibration found = calibrated({csv, {"clock_mhz=100..1e4", "resident_warps=8..64"}});
  EXPECT_EQ(found.keys[1].value, 48);
  EXPECT_EQ(found.keys[1].known, Known::Idle);
  EXPECT_EQ(found.machine.origin("resident_warps"), machine::Origin::Assumed);
  EXPECT_EQ(found.machine.origin("clock_mhz"), machine::Origin::Fitted);
}

TEST(Calibrate, TheSameForAnyNumberOfThreads) {
  const std::vector<double> factors = {1.05, 0.93, 1.02, 1.11, 0.97, 1};
  const Asked asked{measured_on({}, factors), {"rt_steps_per_cycle=0.1..10", "sms"}};
  const Calibration many = calibrated(asked);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Calibration alone = calibrated(asked);
  EXPECT_EQ(many.evaluations, alone.evaluations);
  for (std::size_t i = 0; i < many.keys.size(); ++i) {
    EXPECT_EQ(many.keys[i].value, alone.keys[i].value);
    EXPECT_EQ(many.keys[i].standard_error, alone.keys[i].standard_error);
  }
  for (std::size_t i = 0; i < many.rows.size(); ++i) {
    EXPECT_EQ(many.rows[i].after, alone.rows[i].after);
  }
}

TEST(Calibrate, EvaluationsAreLimited) {
  const Calibration found = calibrated({.csv = measured_on({"machine.clock_mhz=1830"}),
                                        .keys = {"clock_mhz", "rt_steps_per_cycle"},
                                        .most_evaluations = 9});
  EXPECT_LE(found.evaluations, 9U);
  EXPECT_EQ(found.stop, Stop::Evaluations);
  EXPECT_LE(found.cost_after, found.cost_before);
}

TEST(Calibrate, Faults) {
  const std::string csv = measured_on({});
  EXPECT_THAT(error_of({csv, {}}), HasSubstr("no key is to be fitted"));
  EXPECT_THAT(error_of({csv, {"sms", "clock_mhz", "issue_per_cycle", "registers", "resident_warps", "reorder_cycles"}}),
              HasSubstr("too many keys are to be fitted (found 6; expected 1 to 5 keys)"));
  EXPECT_THAT(error_of({csv, {"sms", "machine.sms"}}), HasSubstr("a key is to be fitted twice"));
  EXPECT_THAT(error_of({csv, {"clock_mz"}}),
              AllOf(HasSubstr("--fit: unknown key of a machine"), HasSubstr("did you mean 'machine.clock_mhz'?")));
  EXPECT_THAT(error_of({csv, {"reorders"}}), HasSubstr("the key is no number"));
  EXPECT_THAT(error_of({csv, {"clock_mhz=1"}}), HasSubstr("bounds are not of the form LOW..HIGH"));
  EXPECT_THAT(error_of({csv, {"clock_mhz=1..x"}}), HasSubstr("a bound cannot be a value of the key (found 'x'"));
  EXPECT_THAT(error_of({csv, {"clock_mhz=0..5"}}), HasSubstr("1 to 100000"));
  EXPECT_THAT(error_of({csv, {"sms=1.5..5"}}), HasSubstr("a whole number"));
  EXPECT_THAT(error_of({csv, {"clock_mhz=5..5"}}), HasSubstr("the lower bound is not below the upper one"));
  const std::string two = csv.substr(0, csv.find('\n', csv.find('\n', csv.find('\n') + 1) + 1) + 1);
  EXPECT_THAT(error_of({two, {"sms", "clock_mhz", "issue_per_cycle"}}),
              HasSubstr("there are fewer rows to fit than keys (found 2 rows; expected at least 3 rows)"));
  EXPECT_THAT(error_of({.csv = two, .keys = {"sms", "clock_mhz"}, .held_out = {"1"}}), HasSubstr("found 1 row"));
  EXPECT_THAT(error_of({csv, {"l2_bytes"}}), AllOf(HasSubstr("no measured metric depends on the key"),
                                                   HasSubstr("'machine.l2_bytes'"), HasSubstr("metrics of model")));
  EXPECT_THAT(error_of({"trace,metric,value,machine.sms\ndivergence,model_cycles,1,4\n", {"sms"}}),
              HasSubstr("m.csv:2: a key is both fitted and set by a row"));
  EXPECT_THAT(error_of({"trace,metric,value\ndivergence,model_cycles,0\n", {"sms"}}),
              AllOf(HasSubstr("m.csv:2, value: a ratio"), HasSubstr("--residual difference")));
  EXPECT_THAT(error_of({"trace,metric,value\nnone.rrt,model_cycles,1\n", {"sms"}}, ErrorKind::Input),
              HasSubstr("m.csv:2: none.rrt"));
  EXPECT_THAT(
      error_of({"trace,metric,value,scheduler.model\ndivergence,model_warps,1,oracle\n", {"sms"}}, ErrorKind::Missing),
      HasSubstr("m.csv:2: the experiment does not have this metric (found 'model_warps')"));
  EXPECT_THAT(error_of({"trace,metric,value,scheduler.model\ndivergence,model_cycles,1,serr\n", {"sms"}}),
              AllOf(HasSubstr("m.csv:2"), HasSubstr("did you mean 'ser'?")));
  EXPECT_THAT(error_of({.csv = csv, .keys = {"sms", "clock_mhz"}, .most_evaluations = 4}),
              HasSubstr("--max-evaluations: the evaluations do not suffice for the keys"));
  EXPECT_THAT(error_of({csv, {"rt_boxes_per_cycle=0..4"}}),
              AllOf(HasSubstr("--fit, machine.rt_boxes_per_cycle: only one of the rates"),
                    HasSubstr("Fix: set machine.rt_triangles_per_cycle too")));
  EXPECT_THROW(static_cast<void>(parse_residual("ration", "--residual")), Error);
}

TEST(Calibrate, BoundsWithoutBeingGiven) {
  const Settings complete =
      experiment::complete(common({"machine.withheld_sms=0", "machine.sms=5"}), experiment::NamedInput::Elsewhere);
  const FittedKey sms = parse_fitted_key("sms", complete, "--fit");
  EXPECT_EQ(sms.low, 2);
  EXPECT_EQ(sms.high, 10);
  EXPECT_TRUE(sms.whole);
  const FittedKey reorder = parse_fitted_key("machine.reorder_cycles", complete, "--fit");
  EXPECT_EQ(reorder.from, BoundsFrom::Range);
  EXPECT_EQ(reorder.low, 0);
  EXPECT_EQ(reorder.high, 1e6);
}

}  // namespace
}  // namespace rayreplay::calibration
