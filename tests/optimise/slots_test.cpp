// Expected slots are those that the rewritten program executes, and those of its steps add up to them.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "capture/optimise/expected_gain.hpp"
#include "capture/optimise/optimise.hpp"
#include "capture/optimise/spirv_tools.hpp"
#include "tests/optimise/profiled_program.hpp"

namespace rayreplay {
namespace {

using optimise::Optimised;
using spirv::Word;
using test::Input;
using test::Profiled;

/// Slots that a module executes for inputs, by the interpreter's counts.
double executed(const spirv::Module& module, const test::RandomProgram& program, const std::vector<Input>& inputs) {
  test::LabelCounts counts;
  for (const Input& input : inputs) {
    test::run(module, program, input, counts);
  }
  return optimise::size_of(module, {counts.begin(), counts.end()}).slots;
}

double sum_of_steps(const Optimised& result) {
  double sum = 0;
  for (const optimise::Step& step : result.steps) {
    sum += step.done ? step.slots_saved : 0;
  }
  return sum;
}

/// Rewrites programs, and returns how many steps of each kind were done.
std::map<std::string, int> check(const optimise::Wishes& wishes, std::uint32_t programs, bool has_lanes) {
  std::map<std::string, int> done;
  std::mt19937 random(29);
  for (std::uint32_t seed = 0; seed < programs; ++seed) {
    const Input first = {static_cast<Word>(random() % 9), static_cast<Word>(random() % 5), static_cast<Word>(random())};
    const std::vector<Input> inputs = {first, {first[0], first[1], static_cast<Word>(random())}};
    Profiled given(seed, has_lanes, inputs);
    for (std::size_t place = 0, loads = given.uniform.size(); place < loads && wishes.scalar; ++place) {
      auto address = given.uniform[place];
      address.address = true;
      given.uniform.push_back(address);
    }
    const Optimised result =
        optimise::optimise(given.words, given.executions, wishes, {given.uniform, given.constants});
    EXPECT_EQ(result.slots_before, executed(given.before, given.program, inputs)) << "program " << seed;
    EXPECT_EQ(sum_of_steps(result), result.slots_before - result.slots_after) << "program " << seed;
    if (result.words.empty()) {
      continue;
    }
    EXPECT_EQ(result.slots_after, executed(test::parsed(result.words), given.program, inputs)) << "program " << seed;
    for (const optimise::Step& step : result.steps) {
      done[step.kind] += step.done ? 1 : 0;
    }
  }
  return done;
}

TEST(Slots, OfExactStepsAreThoseThatRun) {
  for (const bool has_lanes : {false, true}) {
    auto done = check({.outline = true}, 50, has_lanes);
    EXPECT_GT(done["outline"], 10);
    EXPECT_GT(done["peel"], 10);
    EXPECT_GT(done["specialise"], 10);
    EXPECT_GT(done["simplify"], 30);
  }
}

TEST(Slots, OfRemovedCodeAreThoseThatRun) {
  auto done = check({.assume_profile = true}, 60, false);
  EXPECT_GT(done["prune"], 100);
  EXPECT_GT(done["simplify"], 30);
}

TEST(Slots, OfScalarStepsAreThoseThatRun) {
  auto done = check({.scalar = true}, 30, true);
  EXPECT_GT(done["scalar"], 10);
  EXPECT_GT(done["specialise"], 3);
  EXPECT_GT(done["simplify"], 20);
}

/// A switch over a number in a buffer, which writes another one for each of six cases.
constexpr const char* kSwitch = R"(
               OpCapability Shader
               OpExtension "SPV_KHR_storage_buffer_storage_class"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 1 1 1
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %in DescriptorSet 0
               OpDecorate %in Binding 0
               OpDecorate %out DescriptorSet 0
               OpDecorate %out Binding 1
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %uint = OpTypeInt 32 0
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 11
         %c2 = OpConstant %uint 12
         %c3 = OpConstant %uint 13
         %c4 = OpConstant %uint 14
         %c5 = OpConstant %uint 15
         %c6 = OpConstant %uint 16
      %block = OpTypeStruct %uint
      %whole = OpTypePointer StorageBuffer %block
     %number = OpTypePointer StorageBuffer %uint
         %in = OpVariable %whole StorageBuffer
        %out = OpVariable %whole StorageBuffer
       %main = OpFunction %void None %fn
      %entry = OpLabel
       %from = OpAccessChain %number %in %c0
         %to = OpAccessChain %number %out %c0
   %selector = OpLoad %uint %from
               OpSelectionMerge %merge None
               OpSwitch %selector %none 0 %zero 1 %one 2 %two 3 %three 4 %four 5 %five
       %none = OpLabel
               OpStore %to %selector
               OpBranch %merge
       %zero = OpLabel
               OpStore %to %c1
               OpBranch %merge
        %one = OpLabel
               OpStore %to %c2
               OpBranch %merge
        %two = OpLabel
               OpStore %to %c3
               OpBranch %merge
      %three = OpLabel
               OpStore %to %c4
               OpBranch %merge
       %four = OpLabel
               OpStore %to %c5
               OpBranch %merge
       %five = OpLabel
               OpStore %to %c6
               OpBranch %merge
      %merge = OpLabel
               OpReturn
               OpFunctionEnd
)";

TEST(Peel, TakesCasesInFallingFrequency) {
  std::vector<Word> words;
  ASSERT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_1).Assemble(kSwitch, &words));
  ASSERT_EQ(optimise::fault_of(words), "");
  const spirv::Module before = test::parsed(words);
  std::vector<spirv::Id> buffers;
  for (const auto& i : before.globals) {
    if (i.is(spv::Op::OpVariable)) {
      buffers.push_back(i[2]);
    }
  }
  const auto ran = [&](const spirv::Module& module, Word selector, test::LabelCounts& counts) {
    std::map<spirv::Id, Word> memory = {{buffers[0], selector}};
    test::Interpreter(module).run(memory, counts);
    return memory[buffers[1]];
  };
  // Each of 3, 1, 4 and 0 has more than half of what those before it leave.
  const std::map<Word, int> runs = {{3, 60}, {1, 25}, {4, 10}, {0, 3}, {5, 1}, {9, 1}};
  const auto profiled = [&](const spirv::Module& module) {
    test::LabelCounts counts;
    for (const auto& [selector, times] : runs) {
      for (int n = 0; n < times; ++n) {
        ran(module, selector, counts);
      }
    }
    return counts;
  };
  const test::LabelCounts counts = profiled(before);
  std::vector<optimise::BlockExecutions> executions;
  for (const auto& i : before.functions.front().body) {
    if (i.is(spv::Op::OpLabel)) {
      const auto found = counts.find(i[1]);
      executions.push_back(
          {0, static_cast<std::uint32_t>(executions.size()), found == counts.end() ? 0 : found->second});
    }
  }
  const Optimised result = optimise::optimise(words, executions, {});
  ASSERT_EQ(optimise::fault_of(result.words), "");
  std::vector<std::string> texts;
  for (const optimise::Step& step : result.steps) {
    if (step.kind == "peel") {
      EXPECT_TRUE(step.done);
      EXPECT_GT(step.slots_saved, 0);
      texts.push_back(step.text);
    }
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"value 3 of a switch with 6 cases is tested first",
                                             "value 1 of a switch with 5 cases is tested first",
                                             "value 4 of a switch with 4 cases is tested first",
                                             "value 0 of a switch with 3 cases is tested first"}));
  const spirv::Module after = test::parsed(result.words);
  const test::LabelCounts now = profiled(after);
  EXPECT_EQ(result.slots_after, optimise::size_of(after, {now.begin(), now.end()}).slots);
  EXPECT_EQ(sum_of_steps(result), result.slots_before - result.slots_after);
  test::LabelCounts ignored;
  for (Word selector = 0; selector < 12; ++selector) {
    EXPECT_EQ(ran(before, selector, ignored), ran(after, selector, ignored)) << selector;
  }
}

}  // namespace
}  // namespace rayreplay
