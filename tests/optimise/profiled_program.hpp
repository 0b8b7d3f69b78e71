// A random program with a profile of its runs in the interpreter: what the tests of guards and of slots rewrite.
//
// `run` gives what a program writes for an input, and what its loads gave. `Profiled` runs the program for some inputs:
// executions of every block, every branch as one that groups agreed on, and loads that gave one value. The other
// invocations of a group are made up (interpreter.hpp).
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/optimise/optimise.hpp"
#include "tests/optimise/interpreter.hpp"
#include "tests/optimise/random_program.hpp"

namespace rayreplay::test {

using spirv::Id;
using spirv::Word;
using Input = std::array<Word, RandomProgram::kBuffers>;
using LabelCounts = std::map<Id, std::uint64_t>;

inline spirv::Module parsed(const std::vector<Word>& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return module ? *module : spirv::Module();
}

struct Ran {
  std::vector<Word> outputs;
  std::map<Id, std::set<Word>> loaded;
};

inline Ran run(const spirv::Module& module, const RandomProgram& program, const Input& input, LabelCounts& counts,
               std::uint32_t others = 0) {
  std::map<Id, Word> memory;
  for (std::size_t b = 0; b < input.size(); ++b) {
    for (Word e = 0; e < RandomProgram::kElements; ++e) {
      memory[Interpreter::element(program.inputs()[b], e)] = input.at(b) + 13 * e;
    }
  }
  memory[program.bounds()] = input[1];
  Interpreter interpreter(module);
  if (others != 0) {
    interpreter.join_others(others);
  }
  interpreter.run(memory, counts);
  Ran ran;
  for (const Id output : program.outputs()) {
    ran.outputs.push_back(memory[output]);
  }
  ran.loaded = interpreter.loaded();
  return ran;
}

/// A program with its profile: executions, every branch as one that groups agreed on, and loads with one value.
struct Profiled {
  RandomProgram program;
  std::vector<Word> words;
  spirv::Module before;
  LabelCounts counts;
  std::vector<optimise::BlockExecutions> executions;
  std::vector<optimise::UniformPlace> uniform;
  std::vector<optimise::ConstantLoad> constants;

  Profiled(std::uint32_t seed, bool has_lanes, const std::vector<Input>& inputs) : program(seed, has_lanes) {
    words = program.make().serialise();
    before = parsed(words);
    std::map<Id, std::set<Word>> loaded;
    for (const Input& input : inputs) {
      for (const auto& [load, values] : run(before, program, input, counts).loaded) {
        loaded[load].insert(values.begin(), values.end());
      }
    }
    for (std::uint32_t f = 0; f < before.functions.size(); ++f) {
      std::uint32_t block = 0;
      const auto& body = before.functions[f].body;
      for (std::uint32_t at = 0; at < body.size(); ++at) {
        const auto& i = body[at];
        if (i.is(spv::Op::OpLabel)) {
          executions.push_back({f, block++, counts.contains(i[1]) ? counts.at(i[1]) : 0});
        }
        if (i.is(spv::Op::OpSwitch) || i.is(spv::Op::OpBranchConditional) || (i.is(spv::Op::OpLoad) && seed % 2 == 0)) {
          uniform.push_back({f, at, false});
        }
        if (i.is(spv::Op::OpLoad) && loaded.contains(i[2]) && loaded.at(i[2]).size() == 1) {
          constants.push_back({f, at, *loaded.at(i[2]).begin()});
        }
      }
    }
  }
};

}  // namespace rayreplay::test
