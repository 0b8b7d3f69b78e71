// Counters of branches and loads in the corpus: where they stand, what is compared, and what is left alone.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/instrument/instrument.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using instrument::CounterSite;
using instrument::SiteKind;
using spirv::Id;
using spirv::Instruction;
using spirv::Module;
using spv::Op;
using testing::HasSubstr;

Module module_of(const std::vector<std::uint32_t>& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return std::move(*module);
}

instrument::Options counting_instructions(bool trust) {
  instrument::Options options = test::plain_options();
  options.count_branches = options.count_loads = true;
  options.trust_analysis = trust;
  return options;
}

std::map<Id, std::string> probes_of(const Module& module) {
  std::map<Id, std::string> probes;
  for (const Instruction& i : module.debug) {
    if (i.is(Op::OpName) && i.string(2).starts_with("rr_")) {
      probes[i[1]] = i.string(2);
    }
  }
  return probes;
}

bool is_counting(const std::string& probe) {
  return probe.starts_with("rr_count_");
}

/// Ids of memory pointers whose loads are counted.
std::set<Id> counted_pointers(const Module& module) {
  const std::set<spv::StorageClass> storages = {
      spv::StorageClass::StorageBuffer, spv::StorageClass::Uniform, spv::StorageClass::PushConstant,
      spv::StorageClass::ShaderRecordBufferKHR, spv::StorageClass::PhysicalStorageBuffer};
  std::set<Id> types, pointers;
  for (const Instruction& i : module.globals) {
    if (i.is(Op::OpTypePointer) && storages.contains(static_cast<spv::StorageClass>(i[2]))) {
      types.insert(i[1]);
    }
  }
  const auto add = [&](const Instruction& i) {
    if (i.result() != 0 && types.contains(i.result_type())) {
      pointers.insert(i.result());
    }
  };
  std::for_each(module.globals.begin(), module.globals.end(), add);
  for (const spirv::Function& function : module.functions) {
    std::for_each(function.body.begin(), function.body.end(), add);
  }
  return pointers;
}

TEST(InstructionCounters, EveryReachedBranchAndLoadHasOne) {
  std::size_t branches = 0, loads = 0, images = 0, shared = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const auto result = instrument::instrument(module.words, counting_instructions(false));
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    const Module given = module_of(module.words);
    const std::set<Id> pointers = counted_pointers(given);
    std::map<std::uint32_t, const instrument::CountedFunction*> counted;
    for (const auto& function : result.counters.functions) {
      counted[function.function] = &function;
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> sites;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> own;  // by site: whether it counts lanes and groups
    for (const auto& [f, function] : counted) {
      for (const CounterSite& site : function->sites) {
        EXPECT_TRUE(site.cells != 0 || site.kind == SiteKind::Load) << module.name;
        own[{f, site.instruction}] = (site.cells & instrument::kLanes) != 0;
        EXPECT_TRUE(sites.insert({f, site.instruction}).second) << module.name;
        const Instruction& i = given.functions.at(f).body.at(site.instruction);
        if (site.kind == SiteKind::Branch) {
          EXPECT_TRUE(i.is(Op::OpBranchConditional) || i.is(Op::OpSwitch)) << module.name;
          EXPECT_EQ(site.cells | instrument::kLanes | instrument::kGroups, 7) << module.name;
          ++branches;
        } else {
          EXPECT_EQ(site.kind, SiteKind::Load) << module.name;
          EXPECT_TRUE(!i.is(Op::OpLoad) || pointers.contains(i[3])) << module.name;
          images += i.is(Op::OpLoad) ? 0U : 1U;
          ++loads;
        }
      }
    }
    for (const auto& [f, function] : counted) {
      std::string reason;
      const auto flow = spirv::control_flow(given.functions[f], spirv::WideSelectors(given), reason);
      ASSERT_TRUE(flow) << reason;
      for (spirv::Node b = 0; b < flow->blocks.size(); ++b) {
        bool first = true;  // of those that run with the same lanes
        for (std::uint32_t i = static_cast<std::uint32_t>(flow->blocks[b].first);
             i <= flow->blocks[b].last && flow->reached(b); ++i) {
          const Instruction& instruction = given.functions[f].body[i];
          if (const auto site = own.find({f, i}); site != own.end()) {
            EXPECT_EQ(site->second, first) << module.name << " instruction " << i;
            shared += first ? 0U : 1U;
            first = false;
          }
          first = first || instruction.is(Op::OpFunctionCall) || spirv::call_kind(instruction.op()) ||
                  instruction.is(Op::OpDemoteToHelperInvocation) || instruction.is(Op::OpIgnoreIntersectionNV) ||
                  instruction.is(Op::OpTerminateRayNV);
          if (flow->graph.successors[b].size() > 1 && i == flow->blocks[b].last) {
            EXPECT_TRUE(sites.contains({f, i})) << module.name << " branch " << i;
          } else if (instruction.is(Op::OpLoad) && pointers.contains(instruction[3])) {
            EXPECT_TRUE(sites.contains({f, i})) << module.name << " load " << i;
          }
        }
      }
    }
  }
  EXPECT_GT(branches, 200U);
  EXPECT_GT(shared, 100U);
  EXPECT_GT(loads, 100U);
  EXPECT_GT(images, 20U);
}

/// One call for each counter: a branch's before it in its block, a load's behind it.
TEST(InstructionCounters, CallTheirProbesOnce) {
  for (const test::CorpusModule& module : test::corpus()) {
    const auto result = instrument::instrument(module.words, counting_instructions(true));
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    const Module given = module_of(module.words), after = module_of(result.spirv);
    const auto probes = probes_of(after);
    for (const auto& counted : result.counters.functions) {
      std::size_t calls = 0, wanted = 0;
      std::map<std::string, std::size_t> expected, found;
      for (const CounterSite& site : counted.sites) {
        constexpr std::array<const char*, 6> kProbes = {"",      "rr_count_agreed",   "rr_count_both", "rr_count_same",
                                                        nullptr, "rr_count_same_both"};
        const auto numbers = static_cast<std::size_t>(std::popcount(site.cells));
        const bool own = (site.cells & instrument::kLanes) != 0;
        if (numbers != 0) {
          ++wanted;
          ++expected[numbers == 3 && !own ? "rr_count_agreed_both" : kProbes.at(numbers)];
        }
      }
      Id last_load = 0;
      std::set<Id> behind;
      for (const Instruction& i : after.functions.at(counted.function).body) {
        if (i.result() != 0 && i.result() < given.bound && !i.is(Op::OpFunctionCall)) {
          last_load = i.result();
        } else if (i.is(Op::OpFunctionCall) && probes.contains(i[3]) && is_counting(probes.at(i[3]))) {
          ++found[probes.at(i[3])];
          ++calls;
          behind.insert(last_load);
        }
      }
      EXPECT_EQ(calls, wanted) << module.name;
      EXPECT_EQ(found, expected) << module.name;
      for (const CounterSite& site : counted.sites) {
        if (site.kind == SiteKind::Load && site.cells != 0) {
          const Id load = given.functions.at(counted.function).body.at(site.instruction).result();
          EXPECT_TRUE(behind.contains(load)) << module.name << " %" << load;
        }
      }
    }
  }
}

/// Components of a type whose values have tables: numbers of 32 bits and vectors of them.
std::uint32_t components_of(const Module& module, Id type) {
  std::map<Id, const Instruction*> types;
  for (const Instruction& i : module.globals) {
    types[i.result()] = &i;
  }
  const Instruction* of = types.at(type);
  const bool vector = of->is(Op::OpTypeVector);
  const Instruction* number = vector ? types.at((*of)[2]) : of;
  const bool known = (number->is(Op::OpTypeInt) || number->is(Op::OpTypeFloat)) && (*number)[2] == 32;
  return !known ? 0 : vector ? (*of)[3] : 1;
}

/// Each component has a table; other types have none, with a note of their number.
TEST(InstructionCounters, TableTheValuesOfLoads) {
  std::size_t tables = 0, left_alone = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    instrument::Options options = counting_instructions(false);
    options.count_branches = false;
    options.value_slots = 5;
    const auto result = instrument::instrument(module.words, options);
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    const Module given = module_of(module.words), after = module_of(result.spirv);
    std::size_t others = 0;
    for (const auto& counted : result.counters.functions) {
      std::map<std::uint32_t, std::set<std::uint8_t>> components;
      std::set<std::uint32_t> loads;
      std::uint32_t end = 0;
      for (const CounterSite& site : counted.sites) {
        EXPECT_EQ(site.cell, end);
        end += instrument::size_of(site);
        if (site.kind == SiteKind::Load) {
          loads.insert(site.instruction);
          EXPECT_EQ(site.slots, 0);
        } else {
          EXPECT_EQ(site.kind, SiteKind::Value);
          EXPECT_EQ(site.slots, 5);
          EXPECT_EQ(site.cells, 0) << "the load has the executions";
          EXPECT_TRUE(components[site.instruction].insert(site.component).second);
        }
      }
      EXPECT_EQ(end, counted.cells);
      for (const std::uint32_t load : loads) {
        const Instruction& i = given.functions.at(counted.function).body.at(load);
        const std::uint32_t expected = components_of(given, i.result_type());
        EXPECT_EQ(components[load].size(), expected) << module.name << " %" << i.result();
        tables += expected;
        others += expected == 0 ? 1U : 0U;
      }
    }
    left_alone += others;
    EXPECT_EQ(others != 0,
              std::ranges::any_of(
                  result.notes, [](const std::string& note) { return note.starts_with("values are not counted of "); }))
        << module.name;
  }
  EXPECT_GT(tables, 200U);
  EXPECT_GT(left_alone, 10U);
}

TEST(InstructionCounters, CompareEveryWord) {
  const auto& module = test::corpus_module("branches_and_loads.rchit.vulkan1.2.stripped");
  const auto result = instrument::instrument(module.words, counting_instructions(false));
  ASSERT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  const Module after = module_of(result.spirv);
  const auto probes = probes_of(after);
  std::map<std::string, std::size_t> calls;
  for (const spirv::Function& function : after.functions) {
    for (const Instruction& i : function.body) {
      if (i.is(Op::OpFunctionCall) && probes.contains(i[3])) {
        ++calls[probes.at(i[3])];
      }
    }
  }
  for (const char* probe : {"rr_same1", "rr_same2", "rr_same3", "rr_same4"}) {
    EXPECT_GT(calls[probe], 0U) << probe;
  }
  EXPECT_THAT(result.notes,
              testing::Contains(HasSubstr("addresses of some loads are not compared: SPIR-V does not tell the address "
                                          "of a shader record")));
}

/// Proven instructions need no comparison, and beside counters of blocks no counter.
TEST(InstructionCounters, ProvenOnesAreNotCompared) {
  const auto& module = test::corpus_module("branches_and_loads.rchit.vulkan1.2.stripped");
  instrument::Options options = counting_instructions(true);
  const auto count = [&] {
    const auto result = instrument::instrument(module.words, options);
    std::map<std::string, std::size_t> sites;
    for (const auto& counted : result.counters.functions) {
      for (const CounterSite& site : counted.sites) {
        if (site.kind != SiteKind::Block) {
          EXPECT_EQ(site.cells & site.always, 0);
          ++sites[site.cells == 0 ? "none" : site.always == 0 ? "compared" : site.cells == 3 ? "counted" : "partly"];
        }
      }
    }
    return sites;
  };
  const auto alone = count();
  EXPECT_GE(alone.at("none") + alone.at("counted"), 3U) << "those behind another one need none";
  EXPECT_GE(alone.at("partly"), 1U);
  options.count_blocks = block_counts::CounterSet::All;
  const auto with_blocks = count();
  EXPECT_GT(with_blocks.at("none"), alone.at("none"));
  EXPECT_FALSE(with_blocks.contains("counted") && with_blocks.at("counted") >= alone.at("counted"));
  EXPECT_EQ(with_blocks.at("compared"), alone.at("compared"));
  options.count_blocks = block_counts::CounterSet::Minimal;
  EXPECT_EQ(count(), alone);
}

}  // namespace
}  // namespace rayreplay
