// Rewritten modules compute what the given ones do: random programs in an interpreter, and the validator on all
// shaders.
#include "capture/optimise/optimise.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/optimise/spirv_tools.hpp"
#include "capture/spirv/control_flow.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/optimise/interpreter.hpp"
#include "tests/optimise/random_program.hpp"

namespace rayreplay {
namespace {

using optimise::BlockExecutions;
using optimise::Optimised;
using spirv::Id;
using spirv::Word;
using Input = std::array<Word, test::RandomProgram::kBuffers>;

constexpr std::uint32_t kPrograms = 150;

spirv::Module parsed(const std::vector<Word>& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return module ? *module : spirv::Module();
}

/// What a program writes for an input, and how often its blocks ran.
std::vector<Word> outputs(const spirv::Module& module, const test::RandomProgram& program, const Input& input,
                          std::map<Id, std::uint64_t>& counts) {
  std::map<Id, Word> memory;
  for (std::size_t b = 0; b < input.size(); ++b) {
    memory[program.inputs()[b]] = input.at(b);
  }
  test::Interpreter(module).run(memory, counts);
  std::vector<Word> result;
  for (const Id output : program.outputs()) {
    result.push_back(memory[output]);
  }
  return result;
}

std::vector<BlockExecutions> executions(const spirv::Module& module, const std::map<Id, std::uint64_t>& counts) {
  std::vector<BlockExecutions> rows;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    std::uint32_t block = 0;
    for (const auto& i : module.functions[f].body) {
      if (i.is(spv::Op::OpLabel)) {
        const auto found = counts.find(i[1]);
        rows.push_back({f, block++, found == counts.end() ? 0 : found->second});
      }
    }
  }
  return rows;
}

std::map<std::string, int> steps_done(const Optimised& result) {
  std::map<std::string, int> done;
  for (const auto& step : result.steps) {
    done[step.kind] += step.done ? 1 : 0;
  }
  return done;
}

/// Runs programs before and after; `others`: with inputs that the profile does not have, too.
std::map<std::string, int> compare(bool assume_profile, bool others) {
  std::map<std::string, int> done;
  std::mt19937 random(7);
  const auto draw = [&] {
    return Input{static_cast<Word>(random() % 9), static_cast<Word>(random() % 5), static_cast<Word>(random())};
  };
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    test::RandomProgram program(seed);
    const auto words = program.make().serialise();
    const spirv::Module before = parsed(words);
    EXPECT_EQ(optimise::fault_of(words), "") << "program " << seed;
    std::map<Id, std::uint64_t> counts, ignored;
    std::vector<Input> inputs = {draw(), draw()};
    inputs[1][0] = inputs[0][0];  // so that some branches go one way alone
    for (const Input& input : inputs) {
      outputs(before, program, input, counts);
    }
    const Optimised result = optimise::optimise(words, executions(before, counts),
                                                {.assume_profile = assume_profile, .outline = !assume_profile});
    if (result.words.empty()) {
      EXPECT_NE(result.why, "");
      continue;
    }
    EXPECT_EQ(optimise::fault_of(result.words), "") << "program " << seed;
    const spirv::Module after = parsed(result.words);
    for (int n = 0; others && n < 12; ++n) {
      inputs.push_back(draw());
    }
    for (const Input& input : inputs) {
      EXPECT_EQ(outputs(before, program, input, ignored), outputs(after, program, input, ignored))
          << "program " << seed << ", input " << input[0] << " " << input[1] << " " << input[2];
    }
    for (const auto& [kind, number] : steps_done(result)) {
      done[kind] += number;
    }
    for (const auto& step : result.steps) {
      // The block of the switch that an earlier step left is new.
      const bool is_again = step.done && step.kind == "peel" && step.label >= before.bound;
      done["peel again"] += is_again ? 1 : 0;
      EXPECT_TRUE(!is_again || step.slots_saved > 0) << "program " << seed;
    }
    if (assume_profile) {
      EXPECT_LE(result.slots_after, result.slots_before) << "program " << seed;
    }
  }
  return done;
}

TEST(Exact, RandomProgramsComputeTheSameForAllInputs) {
  auto done = compare(false, true);
  EXPECT_GT(done["outline"], 50);
  EXPECT_GT(done["peel"], 50);
  EXPECT_GT(done["peel again"], 0);
  EXPECT_GT(done["simplify"], 50);
  EXPECT_EQ(done["prune"], 0);
}

TEST(AssumeProfile, RandomProgramsComputeTheSameForTheProfilesInputs) {
  auto done = compare(true, false);
  EXPECT_GT(done["prune"], 300);
  EXPECT_GT(done["peel"], 0);
  EXPECT_EQ(done["outline"], 0);
}

/// The check above can fail: code that was removed is missed by other inputs.
TEST(AssumeProfile, OtherInputsMayDiffer) {
  int differ = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    test::RandomProgram program(seed);
    const auto words = program.make().serialise();
    const spirv::Module before = parsed(words);
    std::map<Id, std::uint64_t> counts, ignored;
    outputs(before, program, {1, 1, 1}, counts);
    const Optimised result = optimise::optimise(words, executions(before, counts), {.assume_profile = true});
    const spirv::Module after = parsed(result.words.empty() ? words : result.words);
    const Input other = {6, 3, 1234567};
    differ += outputs(before, program, other, ignored) != outputs(after, program, other, ignored) ? 1 : 0;
  }
  EXPECT_GT(differ, 5);
}

/// Made-up executions in every shader of the corpus: whatever is written is valid and keeps its surface.
TEST(Corpus, RewrittenModulesAreValid) {
  std::mt19937 random(3);
  int written = 0;
  for (const auto& module : test::corpus()) {
    const bool given_is_valid = optimise::fault_of(module.words).empty();
    for (const bool assume : {false, true}) {
      const spirv::Module before = parsed(module.words);
      std::map<Id, std::uint64_t> counts;
      for (const auto& function : before.functions) {
        for (const auto& i : function.body) {
          if (i.is(spv::Op::OpLabel)) {
            counts[i[1]] = random() % 3 == 0 ? 0 : 100;
          }
        }
        if (function.body.size() > 2) {
          const auto entry = std::find_if(function.body.begin(), function.body.end(),
                                          [](const auto& i) { return i.is(spv::Op::OpLabel); });
          if (entry != function.body.end()) {
            counts[(*entry)[1]] = 100;
          }
        }
      }
      const Optimised result = optimise::optimise(module.words, executions(before, counts), {assume, !assume, false});
      const Optimised slow = optimise::optimise(module.words, executions(before, counts), {assume, !assume, true});
      EXPECT_EQ(slow.words.empty(), result.words.empty()) << module.name;
      EXPECT_TRUE(slow.words.empty() || optimise::fault_of(slow.words).empty()) << module.name;
      if (result.words.empty()) {
        EXPECT_NE(result.why, "") << module.name;
        continue;
      }
      ++written;
      EXPECT_TRUE(given_is_valid) << module.name;
      EXPECT_EQ(test::validate(result.words, module.environment), "") << module.name;
      const spirv::Module after = parsed(result.words);
      ASSERT_EQ(after.entry_points.size(), before.entry_points.size()) << module.name;
      for (std::size_t e = 0; e < after.entry_points.size(); ++e) {
        EXPECT_TRUE(std::ranges::equal(after.entry_points[e].operands(), before.entry_points[e].operands()))
            << module.name;
      }
    }
  }
  EXPECT_GT(written, 20);
}

/// Every branch and load of the corpus as one that groups agreed on, and every load as one that always gave 3.
TEST(Corpus, GuardedModulesAreValid) {
  std::map<std::string, int> done;
  for (const auto& module : test::corpus()) {
    const spirv::Module before = parsed(module.words);
    std::map<Id, std::uint64_t> counts;
    std::vector<optimise::UniformPlace> uniform;
    std::vector<optimise::ConstantLoad> constants;
    for (std::uint32_t f = 0; f < before.functions.size(); ++f) {
      const auto& body = before.functions[f].body;
      for (std::uint32_t at = 0; at < body.size(); ++at) {
        if (body[at].is(spv::Op::OpLabel)) {
          counts[body[at][1]] = 100;
        }
        uniform.push_back({f, at, false});
        uniform.push_back({f, at, true});
        constants.push_back({f, at, 3});
      }
    }
    for (const bool knows : {false, true}) {
      const Optimised result = optimise::optimise(module.words, executions(before, counts), {.scalar = !knows},
                                                  {uniform, knows ? constants : std::vector<optimise::ConstantLoad>()});
      EXPECT_TRUE(result.words.empty() || test::validate(result.words, module.environment).empty()) << module.name;
      for (const auto& [kind, number] : steps_done(result)) {
        done[kind] += number;
      }
      for (const auto& step : result.steps) {
        const bool is_guarded = step.kind.starts_with("scalar") || step.kind == "specialise";
        EXPECT_FALSE(is_guarded && step.text.find("would not be valid") != std::string::npos)
            << module.name << ": " << step.text;
      }
    }
  }
  EXPECT_GT(done["scalar"], 0);
  EXPECT_GT(done["specialise"], 0);
}

TEST(Refused, ModulesWithoutUseAreLeftAlone) {
  EXPECT_THAT(optimise::optimise({}, {}, {}).why, testing::HasSubstr("cannot be read"));
  const auto words = test::RandomProgram(1).make().serialise();
  EXPECT_THAT(optimise::optimise(words, {}, {}).why, testing::HasSubstr("none was counted"));
  EXPECT_THAT(optimise::optimise(words, std::vector<BlockExecutions>{{99, 99, 5}}, {}).why,
              testing::HasSubstr("none was counted"));
  auto broken = words;
  broken.resize(broken.size() - 1);  // OpFunctionEnd
  const Optimised result = optimise::optimise(broken, std::vector<BlockExecutions>{{0, 0, 5}}, {});
  EXPECT_TRUE(result.words.empty());
  EXPECT_NE(result.why, "");
}

/// Wrong counts give other code, and never an invalid module.
TEST(Refused, AnyCountsGiveAValidModule) {
  std::mt19937 random(5);
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const auto module = test::RandomProgram(seed).make();
    std::map<Id, std::uint64_t> counts;
    for (const auto& function : module.functions) {
      for (const auto& i : function.body) {
        if (i.is(spv::Op::OpLabel) && random() % 5 != 0) {
          counts[i[1]] = random() % 3 == 0 ? 0 : random() % 1000;
        }
      }
    }
    for (const bool assume : {false, true}) {
      const Optimised result =
          optimise::optimise(module.serialise(), executions(module, counts), {assume, !assume, false});
      EXPECT_TRUE(result.words.empty() || optimise::fault_of(result.words).empty()) << "program " << seed;
    }
  }
}

}  // namespace
}  // namespace rayreplay
