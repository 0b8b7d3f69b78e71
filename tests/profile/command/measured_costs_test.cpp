// Facts of shaders from a capture in the results of a user's commands: costs from counted blocks, live state from
// SPIR-V, and the efficiency inside shaders.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/app/run_command.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_command;
using testing::HasSubstr;
using Words = std::vector<std::string>;
using Sources = std::set<std::string>;

class MeasuredCosts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<test::Scratch>();
    const Outcome outcome = run_command({"capture", "--profile", "blocks", "-o", trace(), "--", RAYREPLAY_ONE_WEEKEND,
                                         "--size", "64x40", "--spp", "1", "--hit-groups", "per-material"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
  }
  static void TearDownTestSuite() {
    scratch_.reset();
  }
  [[nodiscard]] static std::string trace() {
    return *scratch_ / "t.rrt";
  }
  [[nodiscard]] static Words whatif(const Words& more) {
    Words words = {"whatif",  trace(),       "--models", "plain,ser",      "--order",
                   "z-order", "--warp-size", "32",       "--no-break-even"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] static json answer(Words words) {
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }
  [[nodiscard]] static Sources sources(const Words& more) {
    Sources found;
    const json costs = answer(whatif(more));
    for (const json& cost : costs["costs"]) {
      found.insert(cost["source"].get<std::string>());
    }
    return found;
  }

 private:
  static std::unique_ptr<test::Scratch> scratch_;
};

std::unique_ptr<test::Scratch> MeasuredCosts::scratch_;

const json& quantity(const json& answer, const std::string& key) {
  for (const json& one : answer["quantities"]) {
    if (one["quantity"] == key) {
      return one;
    }
  }
  ADD_FAILURE() << key;
  return answer;
}

TEST_F(MeasuredCosts, AreTakenWithoutBeingAskedFor) {
  const json costs = answer(whatif({}));
  // Instructions by entry of the profile count an operation on a vector once, the cost up to four times.
  std::map<std::uint64_t, double> executed;
  const json profile = answer({"profile", trace()});
  for (const json& shader : profile["shaders"]) {
    if (shader["entries"] > 0) {
      executed[shader["shader"]] = shader["instructions_per_entry"];
    }
  }
  std::size_t checked = 0;
  for (const json& cost : costs["costs"]) {
    EXPECT_EQ(cost["source"], "blocks") << cost;
    if (cost["stage"] != "ray-generation") {
      ++checked;
      EXPECT_GE(cost["issue"], executed.at(cost["shader"])) << cost;
      EXPECT_LE(cost["issue"], 4 * executed.at(cost["shader"])) << cost;
      EXPECT_DOUBLE_EQ(cost["latency"], 6 * cost["issue"].get<double>());
    }
  }
  EXPECT_GT(checked, 3U) << "three materials, a sphere's intersection, the sky";
  const json& hit = quantity(costs, "shader_costs.closest-hit");
  EXPECT_EQ(hit["origin"], "captured");
  EXPECT_DOUBLE_EQ(hit["low"], hit["value"].get<double>() / 2);
  const json& state = quantity(costs, "scheduler.model:live_state");
  EXPECT_EQ(state["origin"], "counted");
  EXPECT_EQ(state["value"], 116) << "24 bytes across the trace call, and its payload of 92";
  EXPECT_EQ(costs["rows"][1]["charge_bytes_per_thread"], 2 * 116);
}

TEST_F(MeasuredCosts, YieldToOtherSourcesOnRequest) {
  EXPECT_EQ(sources({"--cost-source", "blocks"}), Sources{"blocks"});
  EXPECT_EQ(sources({"--cost-source", "spirv"}), Sources{"spirv"});
  EXPECT_EQ(sources({"--cost-source", "default"}), Sources{"default"});
  EXPECT_EQ(sources({"--shader-cost", "closest-hit=80"}), (Sources{"blocks", "hand"}));
  const json own =
      answer({"whatif", trace(), "--models", "plain,ser:live_state=40", "--warp-size", "32", "--order", "z-order"});
  EXPECT_EQ(quantity(own, "scheduler.model:live_state")["origin"], "given");
  EXPECT_EQ(own["rows"][1]["charge_bytes_per_thread"], 80);
}

TEST_F(MeasuredCosts, AreNamedInText) {
  const Outcome text = run_command(whatif({}));
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("instructions on average (source: blocks)"));
  EXPECT_THAT(text.output, testing::ContainsRegex("the live state of a thread +116 +bytes +counted +58 to 232"));
  EXPECT_THAT(text.output, testing::ContainsRegex("a closest-hit call +[0-9.]+ +instructions +captured"));
  EXPECT_THAT(text.output, testing::ContainsRegex("closest_hit +[0-9,]+ +[0-9.]+ +[0-9.]+ +blocks +captured"));
}

TEST_F(MeasuredCosts, StandBesideTheEfficiencyInsideShaders) {
  const Words words = {"whatif", trace()};
  const json observed = answer(words)["observed"];
  EXPECT_EQ(observed["rows"][0]["name"], "all");
  for (const json& row : observed["rows"]) {
    EXPECT_GT(row["instruction_efficiency"], 0) << row;
    EXPECT_LE(row["instruction_efficiency"], 1) << row;
  }
  const Outcome text = run_command(words);
  EXPECT_THAT(text.output, HasSubstr("by instruction: from counts of basic blocks, of all captured launches"));
}

/// Costs by the path of each call, of a stored capture.
TEST(CostsByPath, AreTakenBeforeOthers) {
  const std::string trace = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/lavapipe/one-weekend-paths.rrt";
  const auto whatif = [&](const Words& more) {
    Words words = {"whatif",      trace, "--models",        "plain,ser", "--order", "z-order",
                   "--warp-size", "32",  "--no-break-even", "--format",  "json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const Outcome usual = whatif({});
  ASSERT_EQ(usual.code, 0) << usual.errors;
  const json answer = json::parse(usual.output);
  std::map<std::uint64_t, double> executed;
  const Outcome profile = run_command({"profile", trace, "--format", "json"});
  ASSERT_EQ(profile.code, 0) << profile.errors;
  const json paths = json::parse(profile.output)["paths"];
  for (const json& shader : paths) {
    executed[shader["shader"]] = shader["mean_instructions"];
  }
  for (const json& cost : answer["costs"]) {
    EXPECT_EQ(cost["source"], "paths") << cost;
    if (cost["stage"] != "ray-generation") {
      // The profile counts an operation on a vector once, the cost up to four times.
      EXPECT_GE(cost["issue"], executed.at(cost["shader"])) << cost;
      EXPECT_LE(cost["issue"], 4 * executed.at(cost["shader"])) << cost;
    }
  }
  EXPECT_EQ(quantity(answer, "shader_costs.closest-hit")["origin"], "captured");
  const Outcome asked = whatif({"--cost-source", "paths"});
  EXPECT_EQ(json::parse(asked.output)["rows"], answer["rows"]);
  // The verdict times warps from counts of their events, the table alone from a replay: to the bit the same.
  const Outcome table = whatif({"--no-sensitivity"});
  ASSERT_EQ(table.code, 0) << table.errors;
  const json without = json::parse(table.output);
  for (std::size_t row = 0; row < answer["rows"].size(); ++row) {
    EXPECT_EQ(without["rows"][row]["cycles"], answer["rows"][row]["cycles"]) << row;
  }
  const Outcome none = whatif({"--cost-source", "blocks"});
  EXPECT_EQ(none.code, 6);
  EXPECT_THAT(none.errors, HasSubstr("--profile blocks"));
}

/// The same capture in memory time: by path, warps take longer than by the means of calls, which `paths` as hand-given
/// numbers are; a factor multiplies what each path costs.
TEST(CostsByPath, AreThoseOfMemoryTimeToo) {
  const std::string trace = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/lavapipe/one-weekend-paths.rrt";
  const auto whatif = [&](const Words& more) {
    Words words = {"whatif", trace, "--models",    "plain,ser", "--outputs",       "time",     "--order", "z-order",
                   "--sms",  "4",   "--warp-size", "32",        "--no-break-even", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  };
  const auto cycles = [](const json& answer) { return answer["rows"][0]["cycles"].get<double>(); };
  const json usual = whatif({});
  EXPECT_EQ(cycles(whatif({"--cost-source", "paths"})), cycles(usual));
  std::string means;
  for (const json& number : usual["numbers"]) {
    const std::string key = number["quantity"];
    if (key.starts_with("shader_costs.")) {
      EXPECT_EQ(number["origin"], "captured") << number;
      means += (means.empty() ? "" : ",") + key.substr(key.find('.') + 1) + "=" + number["value"].dump();
    }
  }
  EXPECT_LT(cycles(whatif({"--shader-cost", means})), cycles(usual)) << means;
  EXPECT_EQ(cycles(whatif({"--shader-cost", "closest-hit=1x"})), cycles(usual));
  EXPECT_GT(cycles(whatif({"--shader-cost", "closest-hit=3x"})), cycles(usual));
  EXPECT_EQ(cycles(whatif({"--shader-cost", "closest-hit=3"})), cycles(whatif({"--shader-cost", "closest-hit=3:18"})))
      << "a given number is no factor";
}

TEST_F(MeasuredCosts, HaveNoEfficiencyByPathWithoutPaths) {
  const json models = answer(whatif({}));
  const json packings = answer({"whatif", trace(), "--packing", "numrays"});
  const json replayed = answer({"replay", trace()});
  for (const json* document : {&models, &packings, &replayed}) {
    for (const json& row : document->at("rows")) {
      EXPECT_FALSE(row.contains("path_efficiency")) << row;
    }
  }
  const json metrics = answer({"run", "--set", "trace=" + trace(), "--set", "outputs=simt,model"});
  for (const json& metric : metrics["rows"]) {
    EXPECT_THAT(metric["metric"].get<std::string>(), testing::Not(HasSubstr("path"))) << metric;
  }
}

/// A capture of this machine: efficiency by instruction of packings, models, metrics and the device.
TEST(EfficiencyByPath, IsInEveryResultThatReplaysWarps) {
  const test::Scratch scratch;
  const std::string trace = scratch / "p.rrt";
  const Outcome captured = run_command({"capture", "--profile", "paths", "-o", trace, "--", RAYREPLAY_ONE_WEEKEND,
                                        "--size", "48x32", "--spp", "1", "--hit-groups", "per-material"});
  ASSERT_EQ(captured.code, 0) << captured.errors;
  const auto run = [](Words words) {
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  };
  const json packings = run({"whatif", trace, "--packing", "numrays", "--packing", "random"});
  std::set<double> different;
  for (const json& row : packings["rows"]) {
    const double by_path = row["path_efficiency"];
    different.insert(by_path);
    EXPECT_GT(by_path, 0) << row;
    EXPECT_LE(by_path, 1) << row;
    EXPECT_EQ(row["path_share"], 1) << row;
    // All misses of this program run one way: by path or not is the same.
    EXPECT_DOUBLE_EQ(row["miss_path_efficiency"], row["miss_efficiency"]) << row;
    EXPECT_LT(row["closest_hit_path_efficiency"], row["closest_hit_efficiency"]) << row;
    EXPECT_EQ(row["callable_path_efficiency"], nullptr) << row;
  }
  EXPECT_EQ(different.size(), 3U) << "packings differ";
  const json identity = packings["rows"][0];
  const json replayed = run({"replay", trace});
  EXPECT_EQ(replayed["rows"][0]["path_efficiency"], identity["path_efficiency"]);
  for (const json& row : replayed["rows"]) {
    EXPECT_TRUE(row["path_efficiency"].is_number()) << row;
  }
  const json models =
      run({"whatif", trace, "--models", "plain,ser,bindless-dispatch,oracle", "--no-break-even", "--no-sensitivity"});
  for (const json& row : models["rows"]) {
    EXPECT_EQ(row["path_efficiency"].is_number(), row["grouping"] != "bound") << row["model"];
  }
  EXPECT_EQ(models["rows"][0]["path_efficiency"], identity["path_efficiency"]) << "plain keeps the launched warps";
  std::size_t metrics = 0;
  const json numbers = run({"run", "--set", "trace=" + trace, "--set", "outputs=simt,model"});
  for (const json& row : numbers["rows"]) {
    if (row["metric"] == "simt_path_efficiency" || row["metric"] == "model_path_efficiency") {
      EXPECT_EQ(row["value"], identity["path_efficiency"]) << row;
      ++metrics;
    }
  }
  EXPECT_EQ(metrics, 2U);
  for (const json& row : packings["observed"]["rows"]) {
    EXPECT_GT(row["path_efficiency"], 0) << row;
    EXPECT_EQ(row["path_share"], 1) << row;
  }
  const Outcome text = run_command({"whatif", trace, "--packing", "numrays"});
  EXPECT_THAT(text.output, HasSubstr("by path: SIMT efficiency by instruction if lanes meet again at every block"));
}

}  // namespace
}  // namespace rayreplay
