// The hint advisor: does it find what there is to find, and are its figures those of the models it runs?
#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>
#include <set>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/regrouping/hints/formula_hints.hpp"
#include "sim/comparison/advise.hpp"
#include "sim/comparison/advise_features.hpp"
#include "sim/simt/segment_replay.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::experiment {
namespace {

using test::error_of;

using trace::ShaderStage;

trace::Trace trace_of(const trace::Launch& launch) {
  trace::Trace trace;
  for (const ShaderStage stage :
       {ShaderStage::RayGeneration, ShaderStage::Intersection, ShaderStage::Intersection, ShaderStage::ClosestHit,
        ShaderStage::Miss, ShaderStage::Intersection, ShaderStage::Intersection}) {
    trace.shaders.push_back({stage, "main", "", {}});
  }
  trace.launches.push_back(launch);
  return trace;
}

/// What comes after the hit depends on its instance and primitive alone, in two independent ways.
trace::Trace two_questions() {
  test::Random random(7);
  test::LaunchBuilder builder({64, 64, 1});
  for (int thread = 0; thread < 64 * 64; ++thread) {
    const std::uint32_t instance = random.below(4);
    const std::uint32_t primitive = random.below(4);
    builder.thread().begin(0).closest_hit(3, instance, primitive).begin(0);
    builder.intersection(instance % 2 == 0 ? 1 : 2).intersection(primitive % 2 == 0 ? 5 : 6).miss(4);
  }
  return trace_of(builder.build());
}

Resolved resolved(const trace::Trace& trace, const Configuration& configuration = {}) {
  return resolve(configuration, trace);
}

trace::Trace captured(const std::string& file) {
  return trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + file);
}

TEST(Advise, FindsTheCombinationThatSeparatesThreads) {
  const trace::Trace trace = two_questions();
  AdviseOptions options;
  options.bits = 2;
  const AdviseResult result = test::advise_by_hand(trace, resolved(trace), options);
  ASSERT_FALSE(result.ranking.empty());
  const Advice& best = result.ranking.front();
  EXPECT_NE(best.formula.find("instance % 2"), std::string::npos) << best.formula;
  // An object's number is 4 · instance + primitive here.
  EXPECT_TRUE(best.formula.find("primitive % 2") != std::string::npos ||
              best.formula.find("object % 2") != std::string::npos)
      << best.formula;
  EXPECT_NE(best.formula.find('|'), std::string::npos) << best.formula;
  EXPECT_EQ(best.bits, 2U);
  // Each question alone splits one of five calls; both answered, only the last warp of each answer is not full.
  EXPECT_GT(best.efficiency, 0.98);
  EXPECT_LT(result.baseline.efficiency, 0.75);
  EXPECT_GT(best.gain, 0.3);
  EXPECT_LE(result.evaluated, options.candidates);
}

/// Every row can be had by hand: the formula as a named hint of the model.
void expect_reproducible(const trace::Trace& trace, const Configuration& configuration, std::uint32_t bits) {
  AdviseOptions options;
  options.bits = bits;
  options.candidates = 40;
  const Resolved chosen = resolved(trace, configuration);
  const AdviseResult result = test::advise_by_hand(trace, chosen, options);
  const trace::Launch& launch = trace.launches[chosen.launch];
  const auto order = scheduler::LaunchOrders::create(chosen.order).model->assign(launch, chosen.warp_size);
  const auto by_hand = [&](const std::string& hint, const scheduler::HintSources& hints) {
    const auto model = scheduler::SchedulerModels::create("ser:hint=" + hint).model;
    const scheduler::Segments segments = scheduler::cut_paths(launch, model->cut());
    const auto schedule = model->schedule({trace, launch, order, segments, {}, hints});
    simt::SegmentReplayOptions replay;
    replay.shader_cost = chosen.costs;
    return simt::replay_segments(launch, trace.shaders, segments, schedule.segment_at, chosen.warp_size, replay)
        .replay.total;
  };
  const simt::Tally none = by_hand("none", {});
  EXPECT_EQ(result.baseline.warp_events, none.warp_events);
  EXPECT_EQ(result.baseline.efficiency, none.efficiency(chosen.warp_size));
  EXPECT_EQ(result.baseline.gain, 0);
  simt::ReplayOptions plain;
  plain.shader_cost = chosen.costs;
  EXPECT_EQ(result.plain.warp_events, simt::replay(launch, trace.shaders, order, plain).total.warp_events);
  ASSERT_EQ(result.ranking.size(), result.evaluated);
  EXPECT_GT(result.evaluated, 5U);
  EXPECT_LE(result.evaluated, options.candidates);
  std::set<std::string> formulas;
  double last = 1e9;
  for (const Advice& advice : result.ranking) {
    EXPECT_TRUE(formulas.insert(advice.formula).second) << advice.formula;
    EXPECT_LE(advice.bits, bits);
    const simt::Tally total =
        by_hand("x", {{"x", {scheduler::HintOrigin::Expression, advice.bits, advice.formula, nullptr}}});
    EXPECT_EQ(advice.warp_events, total.warp_events) << advice.formula;
    EXPECT_EQ(advice.efficiency, total.efficiency(chosen.warp_size));
    const double score = chosen.costs.empty() ? advice.efficiency : advice.weighted_efficiency;
    if (!chosen.costs.empty()) {
      EXPECT_EQ(advice.weighted_efficiency, total.weighted_efficiency(chosen.warp_size));
      EXPECT_EQ(advice.gain, score / none.weighted_efficiency(chosen.warp_size) - 1);
    }
    EXPECT_LE(score, last);
    last = score;
  }
}

TEST(Advise, RowsCanBeHadByHand) {
  expect_reproducible(captured("bunny.rrt"), {}, 8);
  expect_reproducible(captured("one-weekend.rrt"), {}, 3);
}

TEST(Advise, RowsCanBeHadByHandAtCosts) {
  Configuration configuration;
  configuration.costs = {{"closest-hit", 50}, {"miss", 7}};
  expect_reproducible(captured("one-weekend-ser.rrt"), configuration, 5);
}

TEST(Advise, IsTheSameWhateverTheWorkers) {
  const trace::Trace trace = captured("one-weekend-ser.rrt");
  AdviseOptions options;
  options.candidates = 30;
  std::vector<std::vector<std::pair<std::string, std::uint64_t>>> rankings;
  for (const std::size_t workers : {1U, 4U}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
    auto& ranking = rankings.emplace_back();
    for (const Advice& advice : test::advise_by_hand(trace, resolved(trace), options).ranking) {
      ranking.emplace_back(advice.formula, advice.warp_events);
    }
  }
  EXPECT_EQ(rankings[0], rankings[1]);
}

TEST(Advise, TriesTheUsersHints) {
  const trace::Trace trace = two_questions();
  AdviseOptions options;
  options.candidates = 0;
  options.hints = {scheduler::parse_hint("mine:4=(instance % 2) * 2 + primitive % 2"),
                   scheduler::parse_hint("useless:1=0")};
  const AdviseResult result = test::advise_by_hand(trace, resolved(trace), options);
  ASSERT_EQ(result.ranking.size(), 2U);
  EXPECT_EQ(result.ranking[0].name, "mine");
  EXPECT_EQ(result.ranking[0].bits, 4U);
  EXPECT_GT(result.ranking[0].efficiency, 0.98);
  EXPECT_EQ(result.ranking[1].name, "useless");
  EXPECT_EQ(result.ranking[1].gain, 0);
  options.hints = {scheduler::parse_hint("mine:1=primitive")};
  EXPECT_EQ(error_of(ErrorKind::Input, [&] { return test::advise_by_hand(trace, resolved(trace), options); }).expected,
            "0 to 1");
}

TEST(Advise, RefusesModelsItCannotUse) {
  const trace::Trace trace = two_questions();
  const auto with_model = [&](const std::string& model) {
    return [&, model] {
      AdviseOptions options;
      options.model = model;
      return test::advise_by_hand(trace, resolved(trace), options);
    };
  };
  error_of(ErrorKind::Usage, with_model("plain"));
  error_of(ErrorKind::Usage, with_model("nonsense"));
  error_of(ErrorKind::Usage, with_model("ser:hint=none"));
  error_of(ErrorKind::Usage, with_model("ser:arrival=full,scope=sm"));
  EXPECT_NE(with_model("ser:scope=pool,pool_warps=8")().model.find("hint=none"), std::string::npos);
  AdviseOptions options;
  options.bits = 33;
  error_of(ErrorKind::Usage, [&] { return test::advise_by_hand(trace, resolved(trace), options); });
  options.bits = 0;
  error_of(ErrorKind::Usage, [&] { return test::advise_by_hand(trace, resolved(trace), options); });
}

TEST(Advise, CopesWithLaunchesThatHaveNothingToSort) {
  test::LaunchBuilder builder({32, 1, 1});
  const trace::Trace empty = trace_of(builder.build());
  EXPECT_TRUE(test::advise_by_hand(empty, resolved(empty), {}).ranking.empty());
  test::LaunchBuilder misses({32, 1, 1});
  for (int i = 0; i < 32; ++i) {
    misses.thread().begin(0).miss(4);
  }
  const trace::Trace all_miss = trace_of(misses.build());
  const AdviseResult result = test::advise_by_hand(all_miss, resolved(all_miss), {});
  EXPECT_EQ(result.baseline.efficiency, 1);
}

TEST(Features, GiveNumbersOfTheirBits) {
  for (const char* const file : {"bunny.rrt", "one-weekend-ser.rrt", "teapot-alpha.rrt"}) {
    const trace::Trace trace = captured(file);
    const trace::Launch& launch = trace.launches.at(0);
    scheduler::Cut cut;
    cut.at = scheduler::CutAt::PendingCall;
    const scheduler::Segments segments = scheduler::cut_paths(launch, cut);
    const auto available = scheduler::formula::FieldReader::available(trace, launch);
    const scheduler::formula::FieldReader fields(trace, launch, segments, available);
    const std::vector<Feature> features = make_features(fields, available);
    EXPECT_GT(features.size(), 10U);
    for (const Feature& feature : features) {
      for (const std::uint32_t bits : {1U, 2U, 3U, 5U, 8U, 12U}) {
        const std::string text = feature.formula(bits);
        if (text.empty()) {
          continue;
        }
        const auto expression = scheduler::formula::parse_expression(text, feature.name);
        const auto hints = scheduler::formula::hints_of(fields, expression, bits);
        EXPECT_EQ(hints.first_bad, scheduler::kNoSegment) << file << ": " << bits << " bits: " << text;
      }
    }
  }
}

TEST(Features, AreCombinedMostSignificantFirst) {
  EXPECT_EQ(combine({{"a", 2}}), "a");
  EXPECT_EQ(combine({{"x % 4", 2}}), "x % 4");
  EXPECT_EQ(combine({{"x % 4", 2}, {"hash(y) % 8", 3}}), "(x % 4) << 3 | (hash(y) % 8)");
  EXPECT_EQ(combine({{"clamp(x + 1, 0, 3)", 2}, {"y", 3}, {"z", 1}}), "clamp(x + 1, 0, 3) << 4 | y << 1 | z");
}

}  // namespace
}  // namespace rayreplay::experiment
