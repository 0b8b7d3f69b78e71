// Loaded values of a shader whose loads are known: their names, their order and their sums over runs.
#include "capture/profile/value_profile.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/profile/merge.hpp"
#include "capture/profile/value_sums.hpp"
#include "capture/spirv/module.hpp"
#include "capture/trace/validate.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using spirv::Instruction;
using spirv::Word;
using spv::Op;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Instruction text(Op op, std::initializer_list<Word> operands, const char* name) {
  Instruction i(op, operands);
  for (const Word word : spirv::string_words(name)) {
    i.add(word);
  }
  return i;
}

/// A miss shader with four loads: 3 of an array element of vectors, 5 of a float, 7 of a signed number in push
/// constants, 9 of a number of 64 bits. `names`: the module has names of them.
std::vector<std::uint32_t> loading_shader(bool names, Word generator = 0) {
  constexpr Word kUint = 2, kInt = 3, kFloat = 4, kVector = 5, kLong = 6, kZero = 7, kOne = 8, kTwo = 9;
  constexpr Word kArray = 10, kTable = 11, kTablePointer = 12, kTableVariable = 13, kPush = 14, kPushPointer = 15,
                 kPushVariable = 16, kVectorPointer = 17, kFloatPointer = 18, kIntPointer = 19, kLongPointer = 20;
  constexpr Word kBuffer = 12, kConstants = 9;  // storage classes
  spirv::Module module{0x00010500, generator, 60, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  module.memory_model = {Instruction(Op::OpMemoryModel, {0, 1})};
  module.entry_points = {text(Op::OpEntryPoint, {static_cast<Word>(spv::ExecutionModel::MissKHR), 1}, "main")};
  if (names) {
    module.debug = {text(Op::OpName, {kTableVariable}, "table"), text(Op::OpMemberName, {kTable, 1}, "colours"),
                    text(Op::OpMemberName, {kTable, 2}, "scale"), text(Op::OpName, {kPush}, "Push"),
                    text(Op::OpMemberName, {kPush, 0}, "level")};
  }
  module.annotations = {
      Instruction(Op::OpDecorate, {kTableVariable, static_cast<Word>(spv::Decoration::DescriptorSet), 0}),
      Instruction(Op::OpDecorate, {kTableVariable, static_cast<Word>(spv::Decoration::Binding), 3})};
  module.globals = {Instruction(Op::OpTypeInt, {kUint, 32, 0}),
                    Instruction(Op::OpTypeInt, {kInt, 32, 1}),
                    Instruction(Op::OpTypeFloat, {kFloat, 32}),
                    Instruction(Op::OpTypeVector, {kVector, kFloat, 3}),
                    Instruction(Op::OpTypeInt, {kLong, 64, 0}),
                    Instruction(Op::OpConstant, {kUint, kZero, 0}),
                    Instruction(Op::OpConstant, {kUint, kOne, 1}),
                    Instruction(Op::OpConstant, {kUint, kTwo, 2}),
                    Instruction(Op::OpTypeRuntimeArray, {kArray, kVector}),
                    Instruction(Op::OpTypeStruct, {kTable, kLong, kArray, kFloat}),
                    Instruction(Op::OpTypePointer, {kTablePointer, kBuffer, kTable}),
                    Instruction(Op::OpVariable, {kTablePointer, kTableVariable, kBuffer}),
                    Instruction(Op::OpTypeStruct, {kPush, kInt}),
                    Instruction(Op::OpTypePointer, {kPushPointer, kConstants, kPush}),
                    Instruction(Op::OpVariable, {kPushPointer, kPushVariable, kConstants}),
                    Instruction(Op::OpTypePointer, {kVectorPointer, kBuffer, kVector}),
                    Instruction(Op::OpTypePointer, {kFloatPointer, kBuffer, kFloat}),
                    Instruction(Op::OpTypePointer, {kIntPointer, kConstants, kInt}),
                    Instruction(Op::OpTypePointer, {kLongPointer, kBuffer, kLong})};
  module.functions.resize(1);
  module.functions[0].body = {Instruction(Op::OpFunction, {21, 1, 0, 22}),
                              Instruction(Op::OpLabel, {30}),
                              Instruction(Op::OpAccessChain, {kVectorPointer, 31, kTableVariable, kOne, 29}),
                              Instruction(Op::OpLoad, {kVector, 32, 31}),
                              Instruction(Op::OpAccessChain, {kFloatPointer, 33, kTableVariable, kTwo}),
                              Instruction(Op::OpLoad, {kFloat, 34, 33}),
                              Instruction(Op::OpAccessChain, {kIntPointer, 35, kPushVariable, kZero}),
                              Instruction(Op::OpLoad, {kInt, 36, 35}),
                              Instruction(Op::OpAccessChain, {kLongPointer, 37, kTableVariable, kZero}),
                              Instruction(Op::OpLoad, {kLong, 38, 37}),
                              Instruction(Op::OpReturn, {}),
                              Instruction(Op::OpFunctionEnd, {})};
  return module.serialise();
}

struct Value {
  std::uint32_t bits;
  std::uint64_t lanes, uniform_groups, most_lanes;
  bool operator==(const Value&) const = default;
};

void add_place(trace::ValueCounts& counts, std::uint32_t pipeline, std::uint32_t instruction, std::uint8_t component,
               std::uint64_t lanes, std::uint64_t groups, const std::vector<Value>& values) {
  for (const Value& value : values) {
    counts.place.push_back(static_cast<std::uint32_t>(counts.size()));
    counts.value.push_back(value.bits);
    counts.value_lanes.push_back(value.lanes);
    counts.uniform_groups.push_back(value.uniform_groups);
    counts.most_lanes.push_back(value.most_lanes);
  }
  counts.pipeline.push_back(pipeline);
  counts.shader.push_back(0);
  counts.function.push_back(0);
  counts.block.push_back(0);
  counts.instruction.push_back(instruction);
  counts.component.push_back(component);
  counts.lanes.push_back(lanes);
  counts.groups.push_back(groups);
}

std::vector<Value> values_of(const trace::ValueCounts& counts, std::uint32_t place) {
  std::vector<Value> values;
  for (std::size_t row = 0; row < counts.value.size(); ++row) {
    if (counts.place[row] == place) {
      values.push_back(
          {counts.value[row], counts.value_lanes[row], counts.uniform_groups[row], counts.most_lanes[row]});
    }
  }
  return values;
}

trace::Profile profile_with(bool names) {
  trace::Profile result;
  result.header.warp_size = 8;
  result.shaders = {{trace::ShaderStage::Miss, "main", "sky", loading_shader(names)}};
  add_place(result.value_counts, 4, 3, 0, 0, 0, {});
  add_place(result.value_counts, 4, 3, 2, 30, 5,
            {{0, 5, 0, 5}, {0x3F800000, 9, 0, 9}, {0x40490FDB, 5, 1, 5}, {0x7FC00001, 9, 1, 9}});
  add_place(result.value_counts, 4, 5, 0, 8, 2, {{0xBF000000, 8, 2, 8}});
  add_place(result.value_counts, 4, 7, 0, 8, 2, {{7, 4, 1, 4}, {0xFFFFFFFE, 4, 1, 4}});
  return result;
}

TEST(ValueProfile, NamesLoadsByMembersOrBindings) {
  const auto names = [](bool given) {
    std::vector<std::string> result;
    for (const ValuePlace& place : value_profile(profile_with(given), "t.rrt")) {
      result.push_back(place.name);
    }
    return result;
  };
  EXPECT_THAT(names(true), ElementsAre("table.colours[].x", "table.colours[].z", "table.scale", "Push.level"));
  EXPECT_THAT(names(false), ElementsAre("member 1[].x of binding 0/3", "member 1[].z of binding 0/3",
                                        "member 2 of binding 0/3", "member 0 of the push constants"));
}

TEST(ValueProfile, SortsValuesByExecutions) {
  const auto places = value_profile(profile_with(true), "t.rrt");
  ASSERT_EQ(places.size(), 4U);
  EXPECT_THAT(places[0].values, IsEmpty());
  EXPECT_EQ(places[1].untabled, 2U);
  EXPECT_EQ(places[2].untabled, 0U);
  std::vector<std::string> shown, uniform;
  for (const LoadedValue& value : places[1].values) {
    shown.push_back(value_text(value.bits, places[1].number));
  }
  for (const LoadedValue& value : uniform_values(places[1])) {
    uniform.push_back(value_text(value.bits, places[1].number));
  }
  EXPECT_THAT(shown, ElementsAre("1", "nan (0x7fc00001)", "0", "3.1415927"));
  EXPECT_THAT(uniform, ElementsAre("3.1415927", "nan (0x7fc00001)"));
  EXPECT_EQ(value_text(places[2].values[0].bits, places[2].number), "-0.5");
  EXPECT_EQ(value_text(places[3].values[0].bits, places[3].number), "7");
  EXPECT_EQ(value_text(places[3].values[1].bits, places[3].number), "-2");
  EXPECT_EQ(value_text(0xFFFFFFFE, NumberKind::Unsigned), "4294967294");
}

TEST(ValueProfile, NamesWhatTheModuleDoesNotHave) {
  const auto fault = [](const auto& damage) {
    trace::Profile damaged = profile_with(true);
    damage(damaged.value_counts);
    const Error error = test::error_of([&] { static_cast<void>(value_profile(damaged, "t.rrt")); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    return std::string(error.what());
  };
  EXPECT_THAT(fault([](auto& c) { c.function[1] = 1; }), HasSubstr("t.rrt:/profile/values/function[1]"));
  EXPECT_THAT(fault([](auto& c) { c.block[0] = 1; }), HasSubstr("the function has no such block"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 12; }), HasSubstr("the block has no such instruction"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 6; }), HasSubstr("is no load of 32-bit numbers"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 9; }), HasSubstr("is no load of 32-bit numbers"));
  EXPECT_THAT(fault([](auto& c) { c.component[3] = 1; }), HasSubstr("the loaded value has no such component"));
}

/// A run of one pipeline with one load, whose table may lack values.
profile::Run run(const std::string& hash, std::uint64_t lanes, const std::vector<Value>& values) {
  profile::Run result{hash + ".rrt", {}};
  result.profile.hash = hash;
  result.profile.header.configuration = "{}";
  result.profile.header.warp_size = 8;
  result.profile.shaders = {{trace::ShaderStage::Miss, "main", "sky", loading_shader(true)}};
  add_place(result.profile.value_counts, 0, 5, 0, lanes, lanes, values);
  return result;
}

TEST(MergedValues, AddUpAndBoundWhatATableLacks) {
  const profile::Run a = run("a", 20, {{1, 10, 2, 10}, {2, 4, 0, 4}});  // 6 lanes found no room
  const profile::Run b = run("b", 9, {{1, 3, 1, 3}, {3, 6, 6, 6}});     // all did
  const profile::Run c = run("c", 7, {{2, 2, 0, 2}});                   // 5
  const Merged all = merge({a, b, c});
  EXPECT_NO_THROW(trace::check(all.trace, "merged"));
  EXPECT_THAT(all.trace.value_counts.lanes, ElementsAre(36));
  EXPECT_EQ(values_of(all.trace.value_counts, 0), (std::vector<Value>{{1, 13, 3, 18}, {2, 6, 0, 6}, {3, 6, 6, 17}}));
  EXPECT_THAT(all.remarks, IsEmpty());
  // Runs that were merged before, in any order.
  for (const auto& [first, second, third] : {std::tuple(a, b, c), {b, c, a}, {c, a, b}}) {
    const Merged two = merge({first, second});
    profile::Run merged{"two.rrt", {two.trace.header, two.trace.shaders, {}, {}, {}, "two"}};
    merged.profile.value_counts = two.trace.value_counts;
    EXPECT_EQ(values_of(merge({third, merged}).trace.value_counts, 0), values_of(all.trace.value_counts, 0));
  }
}

TEST(MergedValues, NeedAllRuns) {
  profile::Run without = run("b", 0, {});
  without.profile.value_counts = {};
  const auto add_blocks = [](profile::Run run) {
    run.profile.block_counts = {{0}, {0}, {0}, {0}, {8}, {1}};
    return run;
  };
  const Merged merged = merge({add_blocks(run("a", 8, {{1, 8, 8, 8}})), add_blocks(without)});
  EXPECT_THAT(merged.remarks, ElementsAre("values of loads are left out: only counted in a"));
  EXPECT_EQ(merged.trace.value_counts.size(), 0U);
  EXPECT_THAT(merged.trace.block_counts.lanes, ElementsAre(16));
  const Error error = test::error_of([&] { static_cast<void>(merge({run("a", 8, {}), without})); });
  EXPECT_THAT(error.what(), HasSubstr("no counts of basic blocks"));
  // Values alone will do.
  EXPECT_EQ(merge({run("a", 8, {}), run("b", 8, {})}).trace.value_counts.size(), 1U);
}

TEST(MergedValues, LeaveOutPlacesOfSomeRuns) {
  profile::Run more = run("b", 8, {{1, 8, 8, 8}});
  add_place(more.profile.value_counts, 0, 7, 0, 3, 1, {{5, 3, 1, 3}});
  const Merged merged = merge({run("a", 8, {{1, 8, 8, 8}}), more});
  EXPECT_THAT(merged.remarks, ElementsAre("values of 1 loaded number are left out: not counted in all runs"));
  EXPECT_THAT(merged.trace.value_counts.lanes, ElementsAre(16));
  profile::Run huge = run("c", ~std::uint64_t{0}, {});
  EXPECT_THAT(test::error_of([&] {
                static_cast<void>(merge({huge, run("d", 1, {})}));
              }).what(),
              HasSubstr("the sum of a load's executions exceeds 64 bits"));
}

}  // namespace
}  // namespace rayreplay::profile
