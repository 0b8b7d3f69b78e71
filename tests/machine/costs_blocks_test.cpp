// Costs from executions of basic blocks: exact answers, pipelines of a launch, precedence of sources, and the same sums
// by single instructions.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/spirv/call_graph.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/trace/reader.hpp"
#include "sim/machine/cost_sources.hpp"
#include "sim/machine/costs.hpp"
#include "tests/machine/assembler.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine {
namespace {

using test::Assembler;
using test::said;
using trace::EventKind;
using trace::ShaderStage;

/// Blocks of function 0: 6, 5, 2 and 1 issue slots (a sum of vectors of three is three); of function 1: 2.
std::vector<std::uint32_t> branching_hit() {
  Assembler module;
  module.entry(test::kClosestHitModel, 10).op(23, {8, 7, 3});
  module.function(10).add().add().op(129, {8, 5, 6, 6}).op(247, {3, 0}).op(250, {5, 1, 2});
  module.op(248, {1}).add().add().add().add().op(249, {3});
  module.op(248, {2}).calls(20).op(249, {3});
  module.op(248, {3}).end();
  module.function(20).add().end();
  return module.words();
}

/// One trace call in block 0 (two issue slots with the branch), two in block 1 (two sums, two calls, a return).
std::vector<std::uint32_t> tracing_generation() {
  Assembler module;
  module.entry(test::kRayGenerationModel, 10).function(10).op(4445).op(249, {1});
  module.op(248, {1}).add().add().op(4445).op(4445).end();
  return module.words();
}

/// Shaders: ray generation, "metal" and "glass" with the same code, a miss without a module.
trace::Trace counted_trace() {
  trace::Trace trace;
  trace.shaders = {{ShaderStage::RayGeneration, "main", "gen", tracing_generation()},
                   {ShaderStage::ClosestHit, "main", "metal", branching_hit()},
                   {ShaderStage::ClosestHit, "main", "glass", branching_hit()},
                   {ShaderStage::Miss, "main", "sky", {}}};
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(1).begin(0).miss(3).thread().begin(0).miss(3);
  trace.launches.push_back(builder.build());
  return trace;
}

void add_counts(trace::Trace& trace, std::uint32_t pipeline, std::uint16_t shader, std::uint32_t function,
                const std::vector<std::uint64_t>& lanes) {
  trace::BlockCounts& counts = trace.block_counts;
  for (std::uint32_t block = 0; block < lanes.size(); ++block) {
    counts.pipeline.push_back(pipeline);
    counts.shader.push_back(shader);
    counts.function.push_back(function);
    counts.block.push_back(block);
    counts.lanes.push_back(lanes[block]);
  }
}

Costs block_costs(const trace::Trace& trace, const CostOptions& options = {}) {
  return make_costs(trace, trace.launches.at(0), options);
}

const CallCost& call_of(const Costs& costs, std::size_t shader, EventKind kind) {
  return costs.calls.at(shader * trace::kEventKinds + static_cast<std::size_t>(kind));
}

TEST(BlockCosts, AreLanesTimesInstructionsByEntries) {
  trace::Trace trace = counted_trace();
  add_counts(trace, 0, 0, 0, {50, 20});
  add_counts(trace, 0, 1, 0, {100, 70, 30, 100});
  add_counts(trace, 0, 1, 1, {30});
  const Costs costs = block_costs(trace, {.cycles_per_instruction = 2});
  const CallCost& metal = call_of(costs, 1, EventKind::ClosestHit);
  EXPECT_DOUBLE_EQ(metal.issue, (6 * 100 + 5 * 70 + 2 * 30 + 1 * 100 + 2 * 30) / 100.);
  EXPECT_DOUBLE_EQ(metal.latency, 2 * metal.issue);
  EXPECT_EQ(metal.origin, "blocks");
  EXPECT_EQ(origin_of_source(metal.origin), Origin::Captured);
  // Ray generation: by its 50 + 2 · 20 trace calls, not by its 50 entries.
  for (const EventKind kind : {EventKind::Begin, EventKind::OcclusionBegin}) {
    EXPECT_DOUBLE_EQ(call_of(costs, 0, kind).issue, (2 * 50 + 5 * 20) / 90.);
    EXPECT_EQ(call_of(costs, 0, kind).origin, "blocks");
  }
  // A trace call of another shader has its default, whatever that shader costs.
  EXPECT_EQ(call_of(costs, 1, EventKind::Begin).origin, "default");
}

TEST(BlockCosts, OfEachShaderComeFromTheFirstSourceThatKnowsIt) {
  trace::Trace trace = counted_trace();
  add_counts(trace, 0, 1, 0, {10, 10, 0, 10});
  add_counts(trace, 0, 2, 0, {0, 0, 0, 0});  // never entered
  const auto origins = [&](const CostOptions& options) {
    const Costs costs = block_costs(trace, options);
    return std::vector<std::string>{
        call_of(costs, 0, EventKind::Begin).origin, call_of(costs, 1, EventKind::ClosestHit).origin,
        call_of(costs, 2, EventKind::ClosestHit).origin, call_of(costs, 3, EventKind::Miss).origin};
  };
  using Origins = std::vector<std::string>;
  EXPECT_EQ(origins({}), (Origins{"spirv", "blocks", "spirv", "default"}));
  EXPECT_EQ(origins({.source = CostSource::Auto}), origins({}));
  EXPECT_EQ(origins({.source = CostSource::Blocks}), origins({}));
  EXPECT_EQ(origins({.source = CostSource::Spirv}), (Origins{"spirv", "spirv", "spirv", "default"}));
  EXPECT_EQ(origins({.source = CostSource::Default}), (Origins{"default", "default", "default", "default"}));
  EXPECT_EQ(origins({.hand = {{"metal", 3}, {"sky", 4}}}), (Origins{"spirv", "hand", "spirv", "hand"}));
  EXPECT_EQ(call_of(block_costs(trace, {.hand = {{"metal", 3}}}), 1, EventKind::ClosestHit).issue, 3);
}

TEST(BlockCosts, WithoutModulesAreTheDefaults) {
  trace::Trace trace = counted_trace();
  for (trace::Shader& shader : trace.shaders) {
    shader.spirv.clear();
  }
  const Costs automatic = block_costs(trace), by_stage = block_costs(trace, {.source = CostSource::Default});
  for (std::size_t i = 0; i < automatic.calls.size(); ++i) {
    EXPECT_EQ(automatic.calls[i].issue, by_stage.calls[i].issue);
    EXPECT_EQ(automatic.calls[i].latency, by_stage.calls[i].latency);
    EXPECT_EQ(automatic.calls[i].origin, "default");
  }
}

/// Instructions of metal, of entries of 6 + 5 + 1 slots in pipeline 0, and of 6 + 2 + 1 + 2 in pipeline 1.
double metal_of(const trace::Trace& trace) {
  return call_of(block_costs(trace), 1, EventKind::ClosestHit).issue;
}

TEST(BlockCosts, AreOfThePipelinesInWhichTheLaunchsShadersRan) {
  const auto in_two = [](std::uint64_t generations, std::uint64_t of_other) {
    trace::Trace trace = counted_trace();
    add_counts(trace, 0, 0, 0, {generations, generations});
    add_counts(trace, 0, 1, 0, {10, 10, 0, 10});
    add_counts(trace, 1, 0, 0, {of_other, of_other});
    add_counts(trace, 1, 1, 0, {30, 0, 30, 30});
    add_counts(trace, 1, 1, 1, {30});
    return trace;
  };
  EXPECT_DOUBLE_EQ(metal_of(in_two(5, 5)), (10 * 12 + 30 * 11) / 40.) << "each with the weight of its entries";
  EXPECT_DOUBLE_EQ(metal_of(in_two(5, 0)), 12) << "the launch's ray generation did not run in pipeline 1";
  EXPECT_DOUBLE_EQ(metal_of(in_two(0, 5)), 11);
  EXPECT_DOUBLE_EQ(metal_of(in_two(0, 0)), (10 * 12 + 30 * 11) / 40.) << "no pipeline: all";
  // Glass, which the launch does not call, decides nothing.
  trace::Trace trace = in_two(5, 5);
  add_counts(trace, 2, 2, 0, {0, 0, 0, 0});
  EXPECT_DOUBLE_EQ(metal_of(trace), (10 * 12 + 30 * 11) / 40.);
}

TEST(BlockCosts, OnRequestNeedCounts) {
  const auto error = said([] { (void)block_costs(counted_trace(), {.source = CostSource::Blocks}); });
  EXPECT_EQ(error.kind, ErrorKind::Missing);
  EXPECT_THAT(error.text, testing::HasSubstr("--profile blocks"));
  EXPECT_THAT(error.text, testing::HasSubstr("/profile/blocks"));
  trace::Trace damaged = counted_trace();
  add_counts(damaged, 0, 1, 7, {1});
  const auto fault = said([&] { (void)block_costs(damaged); });
  EXPECT_EQ(fault.kind, ErrorKind::Input);
  EXPECT_THAT(fault.text, testing::HasSubstr("/profile/blocks/function[0]"));
}

/// The sums by single instructions: each at the lanes of the block that its label began.
double slow_cost(const trace::Trace& trace, std::uint16_t shader) {
  std::string reason;
  const spirv::Module module = spirv::parse(trace.shaders[shader].spirv, reason).value();
  const spirv::Classifier classes(module);
  std::map<spirv::Id, std::uint32_t> vectors, of_value;
  for (const spirv::Instruction& i : module.globals) {
    if (i.is(spv::Op::OpTypeVector)) {
      vectors[i[1]] = i[3];
    } else if (i.is(spv::Op::OpTypeMatrix)) {
      vectors[i[1]] = vectors.at(i[2]) * i[3];
    }
  }
  const auto know = [&](const spirv::Instruction& i) {
    if (const auto vector = vectors.find(i.result_type()); vector != vectors.end()) {
      of_value[i.result()] = vector->second;
    }
  };
  std::ranges::for_each(module.globals, know);
  for (const spirv::Function& function : module.functions) {
    std::ranges::for_each(function.body, know);
  }
  double instructions = 0, entries = 0, traces = 0;
  for (std::size_t row = 0; row < trace.block_counts.size(); ++row) {
    if (trace.block_counts.shader[row] != shader) {
      continue;
    }
    const auto lanes = static_cast<double>(trace.block_counts.lanes[row]);
    const spirv::Function& function = module.functions[trace.block_counts.function[row]];
    const bool is_entry = function.id() == module.entry_points[0][2];
    entries += is_entry && trace.block_counts.block[row] == 0 ? lanes : 0;
    std::uint32_t labels = 0;
    for (const spirv::Instruction& i : function.body) {
      labels += i.is(spv::Op::OpLabel) ? 1U : 0U;
      if (labels != trace.block_counts.block[row] + 1 || !issues(classes.of(i))) {
        continue;
      }
      const auto vector = vectors.find(i.result_type());
      const bool each = i.is(spv::Op::OpLoad) || i.is(spv::Op::OpExtInst) ||
                        (i.op() >= 109 && i.op() <= 205);  // OpConvertFToU to OpBitCount
      // Numbers of SPIR-V's and GLSL's specifications: the operand of which all components are summed or stored.
      std::size_t summed = i.op() == 62 /* store */                          ? 2
                           : i.op() == 148 || i.op() == 145 /* dot, m * v */ ? 3
                           : i.op() == 144 /* v * m */                       ? 4
                                                                             : 0;
      if (i.is(spv::Op::OpExtInst) && (i[4] == 66 || i[4] == 67)) {  // length, distance
        summed = 5;
      }
      if (summed != 0) {
        const auto known = of_value.find(i[summed]);
        instructions += lanes * (known == of_value.end() ? 1 : known->second);
      } else {
        EXPECT_FALSE(i.is(spv::Op::OpMatrixTimesMatrix)) << "not in these shaders";
        instructions += lanes * (each && vector != vectors.end() ? vector->second : 1);
      }
      traces += i.is(spv::Op::OpTraceRayKHR) || i.is(spv::Op::OpHitObjectTraceRayNV) ? lanes : 0;
    }
  }
  return instructions / (trace.shaders[shader].stage == ShaderStage::RayGeneration ? traces : entries);
}

class CountedModules : public testing::TestWithParam<const char*> {};

TEST_P(CountedModules, CostTheSameByInstructions) {
  trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + GetParam() + ".rrt");
  test::Random random(7);
  for (std::uint16_t shader = 0; shader < trace.shaders.size(); ++shader) {
    std::string reason;
    const spirv::Module module = spirv::parse(trace.shaders[shader].spirv, reason).value();
    ASSERT_EQ(module.entry_points.size(), 1U);
    const spirv::CallGraph graph = spirv::call_graph(module);
    std::vector<std::uint32_t> reached =
        spirv::reached_from(graph, graph.function_of.at(module.entry_points[0][2])).functions;
    std::ranges::sort(reached);
    for (const std::uint32_t function : reached) {
      std::vector<std::uint64_t> lanes;
      for (const spirv::Instruction& i : module.functions[function].body) {
        if (i.is(spv::Op::OpLabel)) {
          lanes.push_back(1 + random.below(100'000));
        }
      }
      add_counts(trace, 0, shader, function, lanes);
    }
  }
  const std::vector<double> executed = executed_instructions(trace, trace.launches[0]);
  ASSERT_EQ(executed.size(), trace.shaders.size());
  for (std::uint16_t shader = 0; shader < trace.shaders.size(); ++shader) {
    EXPECT_GT(executed[shader], 0);
    EXPECT_NEAR(executed[shader], slow_cost(trace, shader), 1e-9 * executed[shader]) << trace.shaders[shader].name;
  }
}

TEST(BlockCosts, OfACaptureAreItsSumsByInstructions) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-blocks.rrt");
  const Costs costs = block_costs(trace);
  std::size_t compared = 0;
  for (std::uint16_t shader = 0; shader < trace.shaders.size(); ++shader) {
    for (const EventKind kind : {EventKind::Begin, EventKind::Intersection, EventKind::ClosestHit, EventKind::Miss}) {
      const CallCost& cost = call_of(costs, shader, kind);
      if (cost.origin == "blocks") {
        ++compared;
        EXPECT_NEAR(cost.issue, slow_cost(trace, shader), 1e-9 * cost.issue) << trace.shaders[shader].name;
      }
    }
  }
  EXPECT_EQ(compared, 6U) << "ray generation, a sphere, three materials, the sky";
}

INSTANTIATE_TEST_SUITE_P(H200, CountedModules,
                         testing::Values("one-weekend", "one-weekend-ser", "teapot-alpha", "bunny"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace rayreplay::machine
