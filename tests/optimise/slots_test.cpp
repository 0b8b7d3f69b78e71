// Expected slots are those that the rewritten program executes, and those of its steps add up to them.
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "capture/optimise/expected_gain.hpp"
#include "capture/optimise/optimise.hpp"
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

}  // namespace
}  // namespace rayreplay
