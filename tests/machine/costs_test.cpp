// Costs of shader calls: precedence of their sources, costs by hand from TOML, captured clocks, SPIR-V that may be
// anything.
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "sim/machine/cost_sources.hpp"
#include "sim/machine/costs.hpp"
#include "tests/machine/assembler.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine {
namespace {

using trace::EventKind;
using trace::ShaderStage;

using test::Said;
using test::said;

/// Shader 0 is ray generation, 1 and 2 closest hits "metal" and "glass", 3 a miss.
trace::Trace four_shaders() {
  trace::Trace trace;
  trace.shaders = {{ShaderStage::RayGeneration, "main", "gen", {}},
                   {ShaderStage::ClosestHit, "main", "metal", {}},
                   {ShaderStage::ClosestHit, "main", "glass", {}},
                   {ShaderStage::Miss, "main", "sky", {}}};
  trace.launches.emplace_back();
  return trace;
}

const CallCost& call(const Costs& costs, std::size_t shader, EventKind kind) {
  return costs.calls.at(shader * trace::kEventKinds + static_cast<std::size_t>(kind));
}

Costs costs_of(const trace::Trace& trace, const CostOptions& options) {
  return make_costs(trace, trace.launches.at(0), options);
}

TEST(Costs, DefaultsAreByStage) {
  const Costs costs = costs_of(four_shaders(), {.cycles_per_instruction = 5});
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).issue, call(costs, 2, EventKind::ClosestHit).issue);
  EXPECT_GT(call(costs, 1, EventKind::ClosestHit).issue, call(costs, 3, EventKind::Miss).issue);
  EXPECT_EQ(call(costs, 3, EventKind::Miss).latency, 5 * call(costs, 3, EventKind::Miss).issue);
  EXPECT_EQ(call(costs, 3, EventKind::Miss).origin, "default");
  EXPECT_LT(call(costs, 1, EventKind::Begin).issue, call(costs, 0, EventKind::Begin).issue);
  EXPECT_EQ(call(costs, 0, EventKind::TerminateRay).issue, 0);
}

TEST(Costs, IdWinsOverNameOverStage) {
  const Costs costs = costs_of(four_shaders(), {.hand = {{"2", 30}, {"glass", 20}, {"closest-hit", 10}, {"gen", 7}},
                                                .cycles_per_instruction = 2});
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).issue, 10);
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).latency, 20);
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).origin, "hand");
  EXPECT_EQ(call(costs, 2, EventKind::ClosestHit).issue, 30);
  EXPECT_EQ(call(costs, 0, EventKind::Begin).issue, 7);
  EXPECT_EQ(call(costs, 0, EventKind::OcclusionBegin).issue, 7);
  // A trace call that a hit shader makes is not that shader's entry.
  EXPECT_EQ(call(costs, 1, EventKind::Begin).origin, "default");
}

TEST(Costs, HandMayGiveOneKindOfCalls) {
  const Costs costs = costs_of(
      four_shaders(), {.hand = {{"0/occlusion_begin", 8, 90}, {"1/begin", 12}, {"0", 7}}, .cycles_per_instruction = 2});
  EXPECT_EQ(call(costs, 0, EventKind::OcclusionBegin).issue, 8) << "wins over the id";
  EXPECT_EQ(call(costs, 0, EventKind::OcclusionBegin).latency, 90);
  EXPECT_EQ(call(costs, 0, EventKind::Begin).issue, 7);
  EXPECT_EQ(call(costs, 1, EventKind::Begin).issue, 12) << "a trace call of a hit shader";
  EXPECT_EQ(call(costs, 1, EventKind::Begin).origin, "hand");
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).origin, "default");
  EXPECT_EQ(said([&] { (void)costs_of(four_shaders(), {.hand = {{"9/begin", 8}}}); }).kind, ErrorKind::Usage);
  EXPECT_EQ(said([&] { (void)costs_of(four_shaders(), {.hand = {{"0/terminate_ray", 8}}}); }).kind, ErrorKind::Usage);
}

TEST(Costs, HandMayGiveLatencyAlone) {
  const Costs costs = costs_of(four_shaders(), {.hand = {{"metal", -1, 900}, {"sky", -1, 3}, {"glass", 4, 5}}});
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).latency, 900);
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).issue,
            call(costs_of(four_shaders(), {}), 1, EventKind::ClosestHit).issue);
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).origin, "default");
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).latency_origin, "hand");
  EXPECT_EQ(call(costs, 3, EventKind::Miss).issue, 3);
  EXPECT_EQ(call(costs, 3, EventKind::Miss).origin, "hand") << "the latency is less than the default's instructions";
  EXPECT_EQ(call(costs, 2, EventKind::ClosestHit).latency, 5);
}

TEST(Costs, RefusesUnknownShadersAndAbsurdValues) {
  const auto error_of = [](const CostOptions& options) {
    return said([&] { (void)costs_of(four_shaders(), options); });
  };
  const Said unknown = error_of({.hand = {{"metall", 3}}});
  EXPECT_EQ(unknown.kind, ErrorKind::Usage);
  EXPECT_NE(unknown.text.find("did you mean 'metal'"), std::string::npos) << unknown.text;
  EXPECT_EQ(error_of({.hand = {{"metal", 2e6}}}).kind, ErrorKind::Usage);
  EXPECT_EQ(error_of({.hand = {{"metal", 20, 10}}}).kind, ErrorKind::Usage);
  EXPECT_EQ(error_of({.hand = {{"metal", std::nan("")}}}).kind, ErrorKind::Usage);
  EXPECT_EQ(error_of({.cycles_per_instruction = 0.5}).kind, ErrorKind::Usage);
  EXPECT_EQ(error_of({.steps_per_ray = -1}).kind, ErrorKind::Usage);
  EXPECT_EQ(error_of({.ray_steps = {1, 2}}).kind, ErrorKind::Internal);
}

TEST(ShaderCosts, AreNumbersOrTables) {
  const auto costs = parse_shader_costs(
      "launch = 0\n[shader_costs]\nmetal = 40\nglass = {issue = 8, latency = 400}\n"
      "sky = {blocks = [{instructions = 12, executions = 100}, {instructions = 3, executions = 50}], calls = 50}\n",
      "c.toml");
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_EQ(costs[0].shader, "glass");
  EXPECT_EQ(costs[0].issue, 8);
  EXPECT_EQ(costs[0].latency, 400);
  EXPECT_EQ(costs[1].shader, "metal");
  EXPECT_EQ(costs[1].issue, 40);
  EXPECT_LT(costs[1].latency, 0);
  EXPECT_EQ(costs[2].issue, 27);
  EXPECT_TRUE(parse_shader_costs("", "c.toml").empty());
}

TEST(ShaderCosts, SaysWhereAndWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"[shader_cost]\na = 1", "did you mean 'shader_costs'"},
      {"shader_costs = 3", "a table of costs"},
      {"[shader_costs]\na = -1", "c.toml:2"},
      {"[shader_costs]\na = \"x\"", "'a'"},
      {"[shader_costs]\na = {isue = 1}", "did you mean 'issue'"},
      {"[shader_costs]\na = {}", "'issue', 'latency', 'blocks' or 'times'"},
      {"[shader_costs]\na = {issue = 1, times = 2}", "either a factor, or the instructions by 'issue' or 'blocks'"},
      {"[shader_costs]\na = {times = 2e6}", "'times'"},
      {"[shader_costs]\na = {issue = 5, latency = 4}", "at least the 5"},
      {"[shader_costs]\na = {blocks = [], issue = 4, calls = 1}", "either"},
      {"[shader_costs]\na = {blocks = [{instructions = 1, executions = 1}]}", "'blocks' needs 'calls'"},
      {"[shader_costs]\na = {blocks = [], calls = 0}", "'calls'"},
      {"[shader_costs]\na = {blocks = [{instructions = 1}], calls = 1}", "both"},
      {"[shader_costs]\na = {blocks = [{instructions = 1e6, executions = 1e9}], calls = 1}", "at most"},
      {"[shader_costs]\na = {blocks = 7, calls = 1}", "a list of"},
  };
  for (const auto& [toml, part] : wrong) {
    const Said error = said([&] { (void)parse_shader_costs(toml, "c.toml"); });
    EXPECT_EQ(error.kind, ErrorKind::Usage) << toml;
    EXPECT_NE(error.text.find(part), std::string::npos) << toml << ": " << error.text;
  }
}

/// Warp 0 runs calls at 0, 10, 40 and 100 ns, warp 1 at 5 and 25; group 6 is of no warp.
trace::Trace with_clocks() {
  trace::Trace trace = four_shaders();
  trace::Launch& launch = trace.launches[0];
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(1).begin(0).miss(3).thread().begin(0).closest_hit(2);
  launch = builder.build();
  launch.data.events.group = {0, 1, 3, 4, 2, 5};
  launch.groups.warp = {0, 0, 1, 0, 0, 1, trace::kNone};
  launch.groups.clock = {0, 10, 5, 40, 100, 25, 7};
  launch.groups.sm.assign(7, 0);
  launch.groups.lane_mask.assign(7, 1);
  return trace;
}

// Ray generation's trace calls last 10, 60 (warp 0) and 20 (warp 1): median 20. Metal: 30. Glass and sky: no next
// group.
TEST(CapturedCosts, AreMediansOfDifferences) {
  const trace::Trace trace = with_clocks();
  const auto nanoseconds = captured_nanoseconds(trace.launches[0], 4);
  ASSERT_EQ(nanoseconds.size(), 4 * trace::kEventKinds);
  EXPECT_EQ(nanoseconds[static_cast<std::size_t>(EventKind::Begin)], 20);
  EXPECT_EQ(nanoseconds[trace::kEventKinds + static_cast<std::size_t>(EventKind::ClosestHit)], 30);
  EXPECT_LT(nanoseconds[3 * trace::kEventKinds + static_cast<std::size_t>(EventKind::Miss)], 0);
  const Costs costs = costs_of(trace, {.source = CostSource::Captured, .captured_clock_mhz = 20'000});
  EXPECT_EQ(call(costs, 0, EventKind::Begin).latency, 400);
  EXPECT_EQ(call(costs, 0, EventKind::Begin).latency_origin, "captured");
  EXPECT_EQ(call(costs, 0, EventKind::Begin).origin, "default") << "clocks say nothing about instructions";
  EXPECT_EQ(call(costs, 1, EventKind::ClosestHit).latency, 600);
  // Never below the issue slots, which are the default's.
  const Costs slow = costs_of(trace, {.source = CostSource::Captured, .captured_clock_mhz = 100});
  EXPECT_EQ(call(slow, 1, EventKind::ClosestHit).latency, call(slow, 1, EventKind::ClosestHit).issue);
  EXPECT_EQ(call(costs, 3, EventKind::Miss).origin, "default");
}

TEST(CapturedCosts, NeedClocks) {
  trace::Trace trace = with_clocks();
  trace.launches[0].groups.clock.assign(7, 3);
  Said error = said([&] { (void)costs_of(trace, {.source = CostSource::Captured}); });
  EXPECT_EQ(error.kind, ErrorKind::Missing);
  EXPECT_NE(error.text.find("rayreplay capture"), std::string::npos) << error.text;
  EXPECT_EQ(said([&] { (void)costs_of(four_shaders(), {.source = CostSource::Captured}); }).kind, ErrorKind::Missing);
}

using test::Assembler;
using test::kClosestHitModel;
using test::kRayGenerationModel;

std::optional<SpirvCount> count(const Assembler& module, ShaderStage stage = ShaderStage::ClosestHit) {
  return count_spirv(module.words(), stage, "main");
}

TEST(SpirvCosts, CountInstructionsOfTheCallTree) {
  Assembler module;
  module.entry(kClosestHitModel, 10).op(23, {8, 7, 3});  // type 8: a vector of three
  module.function(10).add().add().calls(20).calls(20).op(129, {8, 5, 6, 6}).op(81, {7, 5, 6, 0}).end();
  module.function(20).add().calls(30).end();
  module.function(30).add().add().add().end();
  module.function(40).add().end();  // nobody calls it
  const auto found = count(module);
  ASSERT_TRUE(found);
  // Each with a return. 10: two adds, a vector's three, two calls; 20: an add and a call, twice; 30: three adds, twice.
  EXPECT_EQ(found->instructions, 2 + 3 + 2 + 1 + 2 * 3 + 2 * 4);
  EXPECT_EQ(found->trace_calls, 0U);
  EXPECT_FALSE(count(module, ShaderStage::Miss));
  EXPECT_FALSE(count_spirv(module.words(), ShaderStage::ClosestHit, "mai"));
  EXPECT_FALSE(count_spirv(module.words(), ShaderStage::ClosestHit, "mainly"));
}

TEST(SpirvCosts, RayGenerationSharesAmongItsTraceCalls) {
  Assembler module;
  module.entry(kRayGenerationModel, 10).function(10);
  for (int i = 0; i < 10; ++i) {
    module.add();
  }
  module.op(4445).op(4445).end();
  trace::Trace trace = four_shaders();
  trace.shaders[0].spirv = module.words();
  const Costs costs = costs_of(trace, {.source = CostSource::Spirv});
  EXPECT_EQ(call(costs, 0, EventKind::Begin).issue, 6.5);
  EXPECT_EQ(call(costs, 0, EventKind::Begin).origin, "spirv");
  EXPECT_EQ(call(costs, 3, EventKind::Miss).origin, "default");
  EXPECT_EQ(call(costs_of(trace, {}), 0, EventKind::Begin).origin, "spirv");
  EXPECT_EQ(call(costs_of(trace, {.source = CostSource::Default}), 0, EventKind::Begin).origin, "default");
}

TEST(SpirvCosts, RecursionIsNoModule) {
  Assembler self;
  self.entry(kClosestHitModel, 10).function(10).calls(10).end();
  EXPECT_FALSE(count(self));
  Assembler two;
  two.entry(kClosestHitModel, 10)
      .function(10)
      .calls(20)
      .end()
      .function(20)
      .calls(30)
      .end()
      .function(30)
      .calls(20)
      .end();
  EXPECT_FALSE(count(two));
}

// Fifty functions that each call the next one twice: 2^50 calls, counted at once and held at the most.
TEST(SpirvCosts, DeepCallTreesAreCutOff) {
  Assembler module;
  module.entry(kClosestHitModel, 100);
  for (std::uint32_t id = 100; id < 150; ++id) {
    module.function(id).calls(id + 1).calls(id + 1).end();
  }
  module.function(150).add().end();
  ASSERT_TRUE(count(module));
  EXPECT_EQ(count(module)->instructions, kMaxIssue);
}

TEST(SpirvCosts, AnyWordsAreRead) {
  Assembler module;
  module.entry(kClosestHitModel, 10).function(10).add().calls(20).end().function(20).add().end();
  const auto& good = module.words();
  for (std::size_t length = 0; length < good.size(); ++length) {
    (void)count_spirv(std::span(good).first(length), ShaderStage::ClosestHit, "main");
  }
  test::Random random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint32_t> words = good;
    for (std::uint32_t changes = 1 + random.below(4); changes > 0; --changes) {
      std::uint32_t& word = words[random.below(words.size())];
      word = random.one_in(2) ? static_cast<std::uint32_t>(random.bits()) : word ^ (1U << random.below(32));
    }
    const auto found = count_spirv(words, ShaderStage::ClosestHit, "main");
    if (found) {
      EXPECT_LE(found->instructions, kMaxIssue);
    }
  }
}

TEST(SpirvCosts, CapturedShadersHaveThem) {
  for (const char* file : {"one-weekend", "one-weekend-ser", "bunny", "teapot-alpha"}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + file + ".rrt");
    for (const trace::Shader& shader : trace.shaders) {
      const auto found = count_spirv(shader.spirv, shader.stage, shader.entry);
      ASSERT_TRUE(found) << file << " " << shader.name;
      EXPECT_GT(found->instructions, 0) << file << " " << shader.name;
      EXPECT_LT(found->instructions, 5000) << file << " " << shader.name;
      EXPECT_EQ(found->trace_calls > 0, shader.stage == ShaderStage::RayGeneration) << file << " " << shader.name;
      RecordProperty(file + (":" + shader.name), std::to_string(found->instructions));
    }
  }
}

TEST(CapturedCosts, OfAGpuArePositive) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend.rrt");
  const Costs costs = costs_of(trace, {.source = CostSource::Captured, .captured_clock_mhz = 1980});
  std::size_t captured = 0;
  for (const CallCost& cost : costs.calls) {
    captured += cost.latency_origin == "captured" ? 1U : 0U;
    EXPECT_NE(cost.origin, "captured") << "clocks say nothing about instructions";
    EXPECT_GE(cost.latency, cost.issue);
  }
  EXPECT_GT(captured, 2U);
}

}  // namespace
}  // namespace rayreplay::machine
