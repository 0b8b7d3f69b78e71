// Guarded copies: modules with branches made scalar and code for single values compute what the given ones do, for all
// inputs and whatever other invocations of the group do.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "capture/optimise/optimise.hpp"
#include "capture/optimise/spirv_tools.hpp"
#include "capture/optimise/steps.hpp"
#include "capture/spirv/guard_names.hpp"
#include "tests/optimise/profiled_program.hpp"

namespace rayreplay {
namespace {

using optimise::Optimised;
using spirv::Id;
using spirv::Word;
using test::Input;
using test::parsed;
using test::Profiled;
using test::run;
using Counts = test::LabelCounts;

/// Steps that were done, and executions of the blocks behind guards.
struct Seen {
  int scalar = 0, specialised = 0;
  std::uint64_t held = 0, failed = 0;
};

void count_guards(const spirv::Module& module, const Counts& counts, Seen& seen) {
  for (const auto& i : module.debug) {
    const std::string name = i.is(spv::Op::OpName) ? i.string(2) : std::string();
    const auto count = counts.find(i[1]);
    if (count != counts.end()) {
      seen.held += name.starts_with(spirv::kGuardHeld) ? count->second : 0;
      seen.failed += name.starts_with(spirv::kGuardFailed) ? count->second : 0;
    }
  }
}

Seen compare(std::uint32_t programs, const optimise::Wishes& wishes, bool has_lanes, bool knows_loads) {
  Seen seen;
  std::mt19937 random(11);
  const auto draw = [&] {
    return Input{static_cast<Word>(random() % 9), static_cast<Word>(random() % 5), static_cast<Word>(random())};
  };
  for (std::uint32_t seed = 0; seed < programs; ++seed) {
    std::vector<Input> inputs = {draw(), draw()};
    inputs[1][0] = inputs[0][0];
    inputs[1][1] = inputs[0][1];
    const Profiled given(seed, has_lanes, inputs);
    EXPECT_EQ(optimise::fault_of(given.words), "") << "program " << seed;
    const auto constants = knows_loads ? given.constants : std::vector<optimise::ConstantLoad>();
    const Optimised result = optimise::optimise(given.words, given.executions, wishes, {given.uniform, constants});
    if (result.words.empty()) {
      EXPECT_NE(result.why, "");
      continue;
    }
    EXPECT_EQ(optimise::fault_of(result.words), "") << "program " << seed;
    const spirv::Module after = parsed(result.words);
    for (int n = 0; n < 12; ++n) {
      inputs.push_back(draw());
    }
    Counts ignored, counts;
    std::uint32_t others = 1;
    for (const Input& input : inputs) {
      const auto expected = run(given.before, given.program, input, ignored).outputs;
      EXPECT_EQ(expected, run(after, given.program, input, counts).outputs) << "program " << seed;
      EXPECT_EQ(expected, run(after, given.program, input, counts, others++).outputs)
          << "program " << seed << " among others";
    }
    count_guards(after, counts, seen);
    for (const auto& step : result.steps) {
      seen.scalar += step.done && step.kind == "scalar" ? 1 : 0;
      seen.specialised += step.done && step.kind == "specialise" ? 1 : 0;
      EXPECT_EQ(step.done && (step.kind == "scalar" || step.kind == "specialise"), step.guard_failed != 0);
      if (step.done && step.kind == "scalar") {
        EXPECT_GT(step.slots_made_uniform, 0);
      }
      if (step.done && step.kind == "specialise") {
        EXPECT_GT(step.slots_saved, 0);
      }
    }
  }
  return seen;
}

TEST(Scalar, RandomProgramsComputeTheSameWhateverOthersDo) {
  const Seen seen = compare(40, {.scalar = true}, true, false);
  EXPECT_GT(seen.scalar, 25);
  EXPECT_GT(seen.held, 300U);
  EXPECT_GT(seen.failed, 150U) << "guards fail, too";
}

TEST(Scalar, ComposesWithTheOtherSteps) {
  const Seen seen = compare(20, {.outline = true, .scalar = true}, true, true);
  EXPECT_GT(seen.scalar, 8);
  EXPECT_GT(seen.specialised, 0);
}

TEST(Scalar, IsRightForTheProfilesInputsWithWhatWasRemoved) {
  std::mt19937 random(13);
  int scalar = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Input input = {static_cast<Word>(random() % 9), static_cast<Word>(random() % 5), 77};
    const Profiled given(seed, true, {input});
    const Optimised result = optimise::optimise(given.words, given.executions, {.assume_profile = true, .scalar = true},
                                                {given.uniform, {}});
    if (result.words.empty()) {
      continue;
    }
    EXPECT_EQ(optimise::fault_of(result.words), "") << "program " << seed;
    for (const auto& step : result.steps) {
      scalar += step.done && step.kind == "scalar" ? 1 : 0;
    }
    Counts ignored;
    EXPECT_EQ(run(given.before, given.program, input, ignored).outputs,
              run(parsed(result.words), given.program, input, ignored, seed + 1).outputs)
        << "program " << seed;
  }
  EXPECT_GT(scalar, 10);
}

/// Texts of the scalar steps of a changed module of the same program; `done`: how many were done.
std::string scalar_texts(const Profiled& given, const spirv::Module& module, int& done) {
  const Optimised result =
      optimise::optimise(module.serialise(), given.executions, {.scalar = true}, {given.uniform, {}});
  EXPECT_THAT(result.why, testing::Not(testing::HasSubstr("SPIRV-Tools")));
  std::string texts;
  done = 0;
  for (const auto& step : result.steps) {
    done += step.done && step.kind == "scalar" ? 1 : 0;
    texts += step.kind == "scalar" ? step.text + "\n" : "";
  }
  return texts;
}

TEST(Scalar, NeedsVersionAndStage) {
  int programs = 0, done = 0;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const Profiled given(seed, false, {Input{1, 2, 3}});
    scalar_texts(given, given.before, done);
    if (done == 0) {
      continue;
    }
    ++programs;
    // Storage buffers of SPIR-V 1.0 need an extension.
    spirv::Module old = given.before;
    old.version = 0x00010000;
    const auto extension = spirv::string_words("SPV_KHR_storage_buffer_storage_class");
    old.extensions.emplace_back(spirv::number(spv::Op::OpExtension), std::span<const Word>(extension));
    EXPECT_THAT(scalar_texts(given, old, done), testing::HasSubstr("need SPIR-V 1.3"));
    EXPECT_EQ(done, 0);
    spirv::Module fragment = given.before;
    fragment.entry_points.front().set(1, static_cast<Word>(spv::ExecutionModel::Fragment));
    fragment.execution_modes.clear();
    fragment.execution_modes.emplace_back(
        spv::Op::OpExecutionMode, std::initializer_list<Word>{fragment.entry_points.front()[2],
                                                              static_cast<Word>(spv::ExecutionMode::OriginUpperLeft)});
    EXPECT_THAT(scalar_texts(given, fragment, done), testing::HasSubstr("no compute or ray-tracing shader"));
    EXPECT_EQ(done, 0);
  }
  EXPECT_GT(programs, 1);
}

/// Every load of an element, made once for groups that agree on the index.
TEST(ScalarLoad, RandomProgramsComputeTheSameWhateverOthersDo) {
  std::mt19937 random(19);
  Seen seen;
  int loads = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Input input = {static_cast<Word>(random() % 9), static_cast<Word>(random()), static_cast<Word>(random())};
    const Profiled given(seed, true, {input});
    spirv::Module after = given.before;
    optimise::Counts counts;
    for (std::size_t f = 0; f < given.before.functions.size(); ++f) {
      for (const auto& i : given.before.functions[f].body) {
        optimise::CopyLimits limits;
        std::string said;
        spirv::Module changed = after;
        if (i.is(spv::Op::OpLoad) && optimise::scalarise_load(changed, f, i.result(), counts, limits, said)) {
          ++loads;
          EXPECT_NE(limits.failed, 0U);
          after = std::move(changed);
        }
      }
    }
    ASSERT_EQ(optimise::fault_of(after.serialise()), "") << "program " << seed;
    Counts ignored, ran;
    for (std::uint32_t others = 0; others < 6; ++others) {
      EXPECT_EQ(run(given.before, given.program, input, ignored).outputs,
                run(after, given.program, input, ran, others).outputs)
          << "program " << seed;
    }
    count_guards(after, ran, seen);
  }
  EXPECT_GT(loads, 30);
  EXPECT_GT(seen.held, 100U);
  EXPECT_GT(seen.failed, 50U);
}

/// A vector's load takes a slot for each component, so one for the group and a comparison in each lane are less.
TEST(ScalarLoad, IsDoneWhereComponentsOutweighTheGuard) {
  const std::string text = R"(
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main" %lane
               OpExecutionMode %main LocalSize 64 1 1
               OpDecorate %lane BuiltIn LocalInvocationIndex
               OpDecorate %vectors ArrayStride 16
               OpDecorate %numbers ArrayStride 4
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpMemberDecorate %block 1 Offset 1024
               OpDecorate %buffer DescriptorSet 0
               OpDecorate %buffer Binding 0
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %uint = OpTypeInt 32 0
         %v4 = OpTypeVector %uint 4
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 1
        %c64 = OpConstant %uint 64
    %vectors = OpTypeArray %v4 %c64
    %numbers = OpTypeArray %uint %c64
      %block = OpTypeStruct %vectors %numbers
      %whole = OpTypePointer StorageBuffer %block
     %vector = OpTypePointer StorageBuffer %v4
     %number = OpTypePointer StorageBuffer %uint
      %input = OpTypePointer Input %uint
       %lane = OpVariable %input Input
     %buffer = OpVariable %whole StorageBuffer
       %main = OpFunction %void None %fn
      %entry = OpLabel
      %index = OpLoad %uint %lane
         %at = OpAccessChain %vector %buffer %c0 %index
       %four = OpLoad %v4 %at
        %one = OpAccessChain %number %buffer %c1 %index
      %given = OpLoad %uint %one
      %first = OpCompositeExtract %uint %four 0
        %sum = OpIAdd %uint %first %given
         %to = OpAccessChain %number %buffer %c1 %c0
               OpStore %to %sum
               OpReturn
               OpFunctionEnd
)";
  std::vector<Word> words;
  ASSERT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_1).Assemble(text, &words));
  ASSERT_EQ(optimise::fault_of(words), "");
  const spirv::Module before = parsed(words);
  std::vector<optimise::UniformPlace> uniform;
  for (std::uint32_t at = 0; at < before.functions.front().body.size(); ++at) {
    uniform.push_back({0, at, true});
  }
  const std::vector<optimise::BlockExecutions> executions = {{0, 0, 640}};
  EXPECT_TRUE(optimise::optimise(words, executions, {}, {uniform, {}}).words.empty()) << "an option";
  const Optimised result = optimise::optimise(words, executions, {.scalar = true}, {uniform, {}});
  EXPECT_EQ(optimise::fault_of(result.words), "");
  int done = 0;
  double saved = 0;
  for (const auto& step : result.steps) {
    saved += step.done ? step.slots_saved : 0;
    if (step.kind == "scalar load" && step.done) {
      ++done;
      EXPECT_EQ(step.slots_made_uniform, 640 * (4 - 1));
      EXPECT_LT(step.slots_saved, 0);
    }
  }
  EXPECT_EQ(saved, result.slots_before - result.slots_after);
  EXPECT_EQ(done, 1) << "the vector; a number's load is as short as the guard's comparison";
}

TEST(Specialise, RandomProgramsComputeTheSameForAllInputs) {
  const Seen seen = compare(40, {}, false, true);
  EXPECT_GT(seen.specialised, 12);
  EXPECT_GT(seen.held, 80U);
  EXPECT_GT(seen.failed, 40U) << "other inputs have other values";
}

TEST(Specialise, LoopsWithAKnownBoundComputeTheSame) {
  int loops = 0;
  std::mt19937 random(23);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Profiled given(seed, true, {Input{static_cast<Word>(random() % 9), 3, 5}});
    const Optimised result = optimise::optimise(given.words, given.executions, {}, {{}, given.constants});
    for (const auto& step : result.steps) {
      loops += step.done && step.text.find("a loop") != std::string::npos ? 1 : 0;
    }
    if (result.words.empty()) {
      continue;
    }
    EXPECT_EQ(optimise::fault_of(result.words), "") << "program " << seed;
    const spirv::Module after = parsed(result.words);
    Counts ignored;
    for (Word n = 0; n < 8; ++n) {
      EXPECT_EQ(run(given.before, given.program, {n, n, n * n}, ignored).outputs,
                run(after, given.program, {n, n, n * n}, ignored).outputs)
          << "program " << seed;
    }
  }
  EXPECT_GT(loops, 5);
}

/// A guard whose value never came costs nothing but its test: a wrong constant is right all the same.
TEST(Specialise, WrongValuesAreRightAllTheSame) {
  std::mt19937 random(17);
  int specialised = 0;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Profiled given(seed, seed % 2 == 0, {Input{static_cast<Word>(random() % 9), 2, 5}});
    for (auto& constant : given.constants) {
      constant.bits = static_cast<Word>(random() % 9);
    }
    const Optimised result =
        optimise::optimise(given.words, given.executions, {.scalar = seed % 3 == 0}, {given.uniform, given.constants});
    if (result.words.empty()) {
      continue;
    }
    EXPECT_EQ(optimise::fault_of(result.words), "") << "program " << seed;
    for (const auto& step : result.steps) {
      specialised += step.done && step.kind == "specialise" ? 1 : 0;
    }
    const spirv::Module after = parsed(result.words);
    Counts ignored;
    for (Word n = 0; n < 9; ++n) {
      EXPECT_EQ(run(given.before, given.program, {n, n % 5, 3 * n}, ignored).outputs,
                run(after, given.program, {n, n % 5, 3 * n}, ignored, n + 1).outputs)
          << "program " << seed;
    }
  }
  EXPECT_GT(specialised, 10);
}

/// Places that the module does not have, and places of other instructions, change nothing.
TEST(Observations, PlacesThatAreNotThereAreLeftOut) {
  const Profiled given(4, true, {Input{1, 2, 3}});
  const std::vector<optimise::UniformPlace> uniform = {{99, 0, false}, {0, 99999, true}, {0, 0, false}};
  const std::vector<optimise::ConstantLoad> constants = {{99, 0, 1}, {0, 99999, 1}, {0, 0, 1}};
  EXPECT_EQ(optimise::optimise(given.words, given.executions, {.scalar = true}, {uniform, constants}).words,
            optimise::optimise(given.words, given.executions, {}).words);
}

}  // namespace
}  // namespace rayreplay
