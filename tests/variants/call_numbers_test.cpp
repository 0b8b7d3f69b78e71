// Costs of calls in memory what-ifs: each way to know them is a number, and varying one leaves the others.
#include "sim/variants/call_numbers.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/engine/stage_settings.hpp"
#include "sim/variants/memory_numbers.hpp"
#include "tests/settings/expect_usage.hpp"
#include "tests/support/groups_by_hand.hpp"

namespace rayreplay::test {
namespace {

using experiment::NumberFacts;
using experiment::Quantity;
using experiment::Settings;
using testing::ElementsAre;

constexpr const char* kHits = "shader_costs.closest-hit";
constexpr const char* kHitLatency = "shader_costs.closest-hit:latency";

Settings complete_settings() {
  return experiment::complete({}, experiment::NamedInput::Elsewhere);
}

NumberFacts facts_of(const std::vector<OneCall>& calls) {
  NumberFacts facts;
  facts.calls = groups_of(calls);
  facts.warp_size = 32;
  return facts;
}

std::vector<Quantity> numbers_for(const NumberFacts& facts, const std::string& list) {
  return experiment::numbers_of(complete_settings(), facts,
                                list.empty()
                                    ? std::vector<experiment::AskedNumber>()
                                    : experiment::parse_numbers(std::vector<std::string>{list}, "--break-even"));
}

std::vector<std::string> labels(const std::vector<Quantity>& numbers) {
  std::vector<std::string> found;
  for (const Quantity& one : numbers) {
    if (one.key.starts_with("shader_costs.")) {
      found.push_back(label_of(numbers, one));
    }
  }
  return found;
}

TEST(CallNumbers, AGivenShaderIsBesideTheOthersOfItsStage) {
  const NumberFacts facts = facts_of({hit(2000, "hand"), hit(250, "default")});
  const std::vector<Quantity> usual = numbers_for(facts, "");
  EXPECT_THAT(labels(usual), ElementsAre("shader_costs.closest-hit (given)", "shader_costs.closest-hit (assumed)"));
  EXPECT_EQ(usual[0].low, 500) << "a quarter to four times";
  EXPECT_EQ(usual[0].high, 8000);
  EXPECT_EQ(usual[1].low, 25) << "a tenth to ten times";
  EXPECT_EQ(usual[1].high, 2500);
  const std::vector<Quantity> all = experiment::numbers_in_use(complete_settings(), facts, usual);
  EXPECT_EQ(all[0].value, 2000);
  EXPECT_EQ(all[0].high, 8000);
  EXPECT_EQ(all[1].high, 2500);
  Settings asked;
  std::vector<double> values;
  for (const Quantity& one : usual) {
    values.push_back(one.value);
  }
  values[1] = 1000;
  experiment::set_numbers(asked, facts, usual, values, true);
  EXPECT_EQ(asked.text("shader_costs.1/closest_hit"), "1000");
  EXPECT_FALSE(asked.has("shader_costs.0/closest_hit")) << "the given one keeps its cost";
  EXPECT_EQ(asked.all().size(), 1U);
}

/// The mean varies as a factor of every call's own cost, so that warps still issue what their lanes' paths say.
TEST(CallNumbers, CostsByPathVaryByAFactor) {
  const NumberFacts facts = facts_of({hit(200, "paths"), hit(50, "paths"), hit(40, "blocks")});
  const std::vector<Quantity> usual = numbers_for(facts, "");
  EXPECT_THAT(labels(usual), ElementsAre(kHits));
  EXPECT_EQ(usual[0].origin, machine::Origin::Captured);
  EXPECT_EQ(usual[0].value, (200 + 50 + 40) / 3.);
  EXPECT_EQ(usual[0].low, usual[0].value / 2) << "captured: half to twice";
  EXPECT_EQ(usual[0].high, usual[0].value * 2);
  Settings asked;
  experiment::set_numbers(asked, facts, {usual.data(), 1}, std::vector<double>{usual[0].value * 1.5}, true);
  EXPECT_EQ(asked.text("shader_costs.0/closest_hit"), "1.5x");
  EXPECT_EQ(asked.text("shader_costs.1/closest_hit"), "1.5x");
  EXPECT_EQ(asked.text("shader_costs.2/closest_hit"), "60");
}

TEST(CallNumbers, AFactorByHandStaysInTheFactor) {
  OneCall given = hit(200, "paths", 4000, "captured");
  given.cost.times = 2;
  const NumberFacts facts = facts_of({given});
  const std::vector<Quantity> usual = numbers_for(facts, "");
  EXPECT_THAT(labels(usual), ElementsAre(kHits, kHitLatency));
  Settings issue, latency;
  experiment::set_numbers(issue, facts, {usual.data(), 1}, std::vector<double>{300}, true);
  EXPECT_EQ(issue.text("shader_costs.0/closest_hit"), "3x:4000");
  experiment::set_numbers(latency, facts, {&usual[1], 1}, std::vector<double>{2000}, true);
  EXPECT_EQ(latency.text("shader_costs.0/closest_hit"), "2x:2000");
}

TEST(CallNumbers, ARangeIsOfTheNumbersThatItHolds) {
  const NumberFacts facts = facts_of({hit(2000, "hand"), hit(250, "default")});
  const std::vector<Quantity> both = numbers_for(facts, kHits);
  EXPECT_EQ(both.size(), 2U);
  const std::vector<Quantity> assumed = numbers_for(facts, std::string(kHits) + "=10..500");
  ASSERT_EQ(assumed.size(), 1U);
  EXPECT_EQ(assumed[0].origin, machine::Origin::Assumed);
  EXPECT_EQ(assumed[0].high, 500);
  EXPECT_EQ(numbers_for(facts, std::string(kHits) + "=10..5000").size(), 2U);
  expect_usage([&] { (void)numbers_for(facts, std::string(kHits) + "=3000..5000"); },
               {"a range around 2000 (given) or 250 (assumed), the present values"});
  const auto left = [&](const std::string& list) {
    return experiment::left_out(complete_settings(), facts,
                                experiment::parse_numbers(std::vector<std::string>{list}, "--break-even"));
  };
  EXPECT_THAT(left(std::string(kHits) + "=1000..5000"), testing::Contains("shader_costs.closest-hit (assumed)"));
  EXPECT_THAT(left(kHits), testing::Not(testing::Contains(testing::StartsWith(kHits))));
}

TEST(CallNumbers, LatenciesOfTheirOwnAreVariedApart) {
  const NumberFacts facts = facts_of({hit(50, "spirv", 4000, "captured"), hit(30, "spirv", 2000, "captured")});
  const std::vector<Quantity> usual = numbers_for(facts, "");
  EXPECT_THAT(labels(usual), ElementsAre(kHits, kHitLatency));
  EXPECT_EQ(usual[0].low, 10) << "counted: a quarter to four times";
  EXPECT_EQ(usual[1].value, 3000);
  EXPECT_EQ(usual[1].low, 1500) << "captured: half to twice";
  EXPECT_EQ(usual[1].high, 6000);
  for (const Quantity& one : experiment::numbers_in_use(complete_settings(), facts, usual)) {
    EXPECT_NE(one.key, "scheduler.cycles_per_instruction") << "no call reads it";
  }
  expect_usage(
      [&] {
        experiment::check_numbers(std::vector<Settings>{complete_settings()}, facts,
                                  {{"scheduler.cycles_per_instruction"}});
      },
      {"memory time does not depend on the key", "the latencies of all calls are given or captured"});
  Settings asked;
  experiment::set_numbers(asked, facts, {&usual[1], 1}, std::vector<double>{6000}, true);
  EXPECT_EQ(asked.text("shader_costs.0/closest_hit"), "50:8000");
  EXPECT_EQ(asked.text("shader_costs.1/closest_hit"), "30:4000");
  Settings issue;
  experiment::set_numbers(issue, facts, {usual.data(), 1}, std::vector<double>{80}, true);
  EXPECT_EQ(issue.text("shader_costs.0/closest_hit"), "100:4000");
}

TEST(CallNumbers, ReadTheLatencyOfAnInstructionUnlessAllHaveTheirOwn) {
  const NumberFacts facts = facts_of({hit(50, "hand", 4000, "hand"), hit(30, "spirv")});
  const auto has = [&](const std::vector<Quantity>& list) {
    return std::ranges::count(list, "scheduler.cycles_per_instruction", &Quantity::key);
  };
  EXPECT_EQ(has(numbers_for(facts, "")), 1);
  EXPECT_EQ(has(experiment::numbers_in_use(complete_settings(), facts, {})), 1);
  const NumberFacts own = facts_of({hit(50, "hand", 4000, "hand")});
  EXPECT_EQ(has(numbers_for(own, "")), 0);
}

TEST(CallNumbers, RangesStayWithinCostsThatCanBeGiven) {
  const NumberFacts facts = facts_of({hit(900'000, "spirv"), hit(300'000, "spirv"), hit(600, "hand", 1000, "hand")});
  const std::vector<Quantity> usual = numbers_for(facts, "");
  ASSERT_EQ(usual[0].value, 600'000);
  EXPECT_DOUBLE_EQ(usual[0].high, 600'000.0 / 900'000 * 1e6) << "the dearest call then costs a million";
  EXPECT_EQ(usual[2].key, kHitLatency);
  EXPECT_EQ(usual[2].low, 600) << "not below its instructions";
  EXPECT_EQ(usual[2].high, 4000);
  Settings asked;
  experiment::set_numbers(asked, facts, {usual.data(), 1}, std::vector<double>{usual[0].high}, true);
  EXPECT_NO_THROW((void)experiment::compare_of(experiment::complete(asked, experiment::NamedInput::Elsewhere)));
}

/// Both kinds of trace calls of one shader have latencies of their own; those of another shader are a number too.
TEST(CallNumbers, EachKindOfCallsKeepsItsOwn) {
  std::vector<trace::Shader> shaders(2);
  shaders[0].stage = trace::ShaderStage::RayGeneration;
  shaders[1].stage = trace::ShaderStage::ClosestHit;
  simt::Tally tally;
  tally.active_lanes = 1;
  const std::vector<simt::CallTally> called = {{trace::EventKind::Begin, 0, tally},
                                               {trace::EventKind::OcclusionBegin, 0, tally},
                                               {trace::EventKind::Begin, 1, tally}};
  std::vector<machine::CallCost> costs(2 * trace::kEventKinds);
  costs[static_cast<std::size_t>(trace::EventKind::Begin)] = {120, 900, "spirv", "captured"};
  costs[static_cast<std::size_t>(trace::EventKind::OcclusionBegin)] = {120, 500, "spirv", "captured"};
  costs[trace::kEventKinds + static_cast<std::size_t>(trace::EventKind::Begin)] = {30, 180, "default", ""};
  NumberFacts facts;
  facts.calls = {shaders, called, costs};
  const std::vector<Quantity> usual = numbers_for(facts, "");
  ASSERT_EQ(usual[0].key, "shader_costs.ray-generation");
  ASSERT_EQ(usual[1].key, "trace-call");
  ASSERT_EQ(usual[2].key, "shader_costs.ray-generation:latency");
  Settings asked;
  experiment::set_numbers(asked, facts, {usual.data(), 3}, std::vector<double>{60, 90, 1400}, true);
  EXPECT_EQ(asked.text("shader_costs.0/begin"), "60:1800");
  EXPECT_EQ(asked.text("shader_costs.0/occlusion_begin"), "60:1000");
  EXPECT_EQ(asked.text("shader_costs.1/begin"), "90");
  EXPECT_EQ(numbers_for(facts, "trace-call=10..100").size(), 1U);
  expect_usage([&] { (void)numbers_for(facts, "trace-call:latency"); },
               {"the latency of trace-call calls follows their instructions"});
  expect_usage([&] { (void)numbers_for(facts, "shader_costs.miss:latency"); },
               {"the latency of miss calls follows their instructions, or the launch makes none"});
  expect_usage([&] { (void)numbers_for(facts, "shader_costs.metal:latency"); }, {"shader_costs.STAGE, with one of"});
}

}  // namespace
}  // namespace rayreplay::test
