// Counters of branches and loads on the Vulkan device at hand. The shader also records every execution's values, with a
// number for the group that ran it: the counts must be what a comparison of all recorded lanes gives.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <spirv-tools/optimizer.hpp>

#include "AgreeingBranches.spv.hpp"
#include "AgreeingLoads.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "capture/spirv/uniformity.hpp"
#include "tests/instrument/support/group_operations.hpp"

namespace rayreplay {
namespace {

using instrument::CounterSite;
using instrument::SiteKind;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kWidth = 21;
constexpr std::uint32_t kHeight = 4;
constexpr std::uint32_t kMode = 1;
constexpr std::uint32_t kTrips = 3;
constexpr std::uint64_t kNotCompared = ~std::uint64_t{0};
constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// As in agreement.rgen.
struct Execution {
  std::uint32_t group, site, address, word;
};
struct Mixed {
  std::uint32_t low, high;
  std::array<float, 2> parts;
  std::uint32_t whole, pad;
};
struct Table {
  std::array<std::uint32_t, 64> numbers, sevens;
  std::array<std::uint32_t, 8> floats;
  std::array<float, 16> vectors, matrices;
  std::array<Mixed, 4> mixed;
  std::array<std::uint32_t, 4> nodes;
};
constexpr std::size_t kMostExecutions = 16384;

struct Count {
  std::uint64_t lanes = 0, groups = 0, uniform = 0, uniform_address = 0;
  bool operator==(const Count&) const = default;
};

/// Lanes and uniform groups by value.
using ValueTable = std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>;

ValueTable read_table(const std::byte* cells, std::uint32_t slots) {
  ValueTable table;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    std::array<std::uint64_t, instrument::kSlotCells> found{};
    std::memcpy(found.data(), cells + std::size_t{slot} * sizeof found, sizeof found);
    if (found[0] >> 32 == instrument::kTableMark) {
      table[static_cast<std::uint32_t>(found[0])] = {found[1], found[2]};
    }
  }
  return table;
}

void PrintTo(const Count& count, std::ostream* out) {
  *out << count.lanes << " lanes, " << count.groups << " groups, uniform " << count.uniform << ", address "
       << count.uniform_address;
}

struct Case {
  bool loads = false, optimised = false, ballot_extension = false;
};

Words shader(const Case& which) {
  Words words = which.loads ? Words(std::begin(kAgreeingLoads), std::end(kAgreeingLoads))
                            : Words(std::begin(kAgreeingBranches), std::end(kAgreeingBranches));
  if (which.optimised) {
    spvtools::Optimizer optimiser(SPV_ENV_VULKAN_1_2);
    // The passes of an optimiser, but no inlining of calls, which would hide the recorded sites.
    optimiser.RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
        .RegisterPass(spvtools::CreateSSARewritePass())
        .RegisterPass(spvtools::CreateAggressiveDCEPass())
        .RegisterPass(spvtools::CreateBlockMergePass())
        .RegisterPass(spvtools::CreateCFGCleanupPass());
    Words out;
    EXPECT_TRUE(optimiser.Run(words.data(), words.size(), &out));
    words = std::move(out);
  }
  return words;
}

spirv::Module parsed(const Words& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return std::move(*module);
}

struct Ran {
  std::map<spirv::Place, Count> counts;  ///< by place in the application's module
  std::map<spirv::Place, CounterSite> sites;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Count> blocks;  ///< by function and block
  std::map<spirv::Place, ValueTable> tables;                        ///< of numbers
  std::vector<Execution> executions;
};

Table table_of(const apps::Buffer& nodes) {
  Table table{};
  for (std::uint32_t i = 0; i < 64; ++i) {
    table.numbers.at(i) = i;
    table.sevens.at(i) = 7;
  }
  table.floats = {0x7FC00000, 0x7FC00001, 0x7FC00002, 0x7FC00002, 0, 0x80000000, 0x3F800000, 0x3F800000};
  for (std::uint32_t i = 0; i < 16; ++i) {
    table.vectors.at(i) = static_cast<float>(i);
    table.matrices.at(i) = static_cast<float>(i % 8);  // two by two alike
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    table.mixed.at(i) = {9, i / 2, {1, 2}, 5, 0};
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    const VkDeviceAddress address = nodes.address() + 16 * i;
    table.nodes.at(2 * i) = static_cast<std::uint32_t>(address);
    table.nodes.at(2 * i + 1) = static_cast<std::uint32_t>(address >> 32);
  }
  return table;
}

void launch(const apps::Device& device, const Words& words, const apps::Buffer& executions) {
  const apps::Buffer nodes = apps::upload(device, Words{1, 2, 3, 4, 1, 2, 3, 5}, kStorage);
  const apps::Buffer table = apps::upload(device, std::vector<Table>{table_of(nodes)}, kStorage);
  const apps::Buffer frame = apps::upload(device, Words{4, 5, 6, 7}, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  const apps::StorageImage image(device, kWidth, kHeight);
  apps::DescriptorSet descriptors(
      device, std::vector<apps::Binding>{apps::StorageBinding{&executions}, apps::StorageBinding{&table},
                                         apps::UniformBinding{&frame}, apps::ImageBinding{image.view()}});
  apps::PipelineBuilder builder;
  const auto generation = builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, words));
  const apps::RayTracingPipeline pipeline(device, builder, descriptors);
  const apps::ShaderBindingTable records(device, pipeline, apps::ShaderRecord{generation, std::vector<std::byte>(4)},
                                         {}, {});
  device.submit([&](VkCommandBuffer commands) {
    const VkDescriptorSet set = descriptors.handle();
    const std::array<std::uint32_t, 4> constants = {kMode, kTrips, 0, 0};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                            nullptr);
    vkCmdPushConstants(commands, pipeline.layout(), apps::kRayTracingStages, 0, sizeof constants, constants.data());
    records.trace(commands, kWidth, kHeight);
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                            VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
  });
}

Ran run(const apps::Device& device, const Words& words, instrument::Options options) {
  options.record = false;
  options.wide_subgroups = true;
  options.ballot_extension = test::votes_by_extension(device, options.ballot_extension);
  instrument::Result result = instrument::instrument(words, options);
  EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  const apps::Buffer counters(device, result.counters.bytes(), kStorage, apps::MemoryKind::Readback);
  std::memset(counters.mapped(), 0, counters.size());
  result.spirv[result.counters.address_word] = static_cast<std::uint32_t>(counters.address());
  result.spirv[result.counters.address_word + 1] = static_cast<std::uint32_t>(counters.address() >> 32);
  const apps::Buffer executions(device, 8 + kMostExecutions * sizeof(Execution), kStorage, apps::MemoryKind::Readback);
  std::memset(executions.mapped(), 0, executions.size());
  launch(device, result.spirv, executions);

  Ran ran;
  std::array<std::uint32_t, 2> heads{};
  std::memcpy(heads.data(), executions.mapped(), sizeof heads);
  EXPECT_LT(heads[1], kMostExecutions);
  ran.executions.resize(std::min<std::size_t>(heads[1], kMostExecutions));
  std::memcpy(ran.executions.data(), executions.mapped() + sizeof heads, ran.executions.size() * sizeof(Execution));
  for (const instrument::CountedFunction& counted : result.counters.functions) {
    std::map<std::uint32_t, Count> last;  // executions by block
    for (const CounterSite& site : counted.sites) {
      if (site.kind == SiteKind::Value) {
        if (site.component == 0) {
          const std::byte* cells = counters.mapped() + (counted.first + site.cell + instrument::slots_of(site)) * 8;
          ran.tables[{counted.function, site.instruction}] = read_table(cells, site.slots);
        }
        continue;
      }
      std::map<std::uint8_t, std::uint64_t> numbers;  // by Cell
      const std::byte* at = counters.mapped() + (counted.first + site.cell) * 8;
      for (std::uint8_t bit = 1; bit <= instrument::kUniformBoth; bit = static_cast<std::uint8_t>(bit * 2)) {
        if ((site.cells & bit) != 0) {
          std::memcpy(&numbers[bit], at, 8);
          at += 8;
        }
      }
      if ((site.cells & instrument::kLanes) != 0) {
        Count& count = last[site.place.to];
        count = {numbers[instrument::kLanes], 0, 0, 0};
        for (const auto& [bit, number] : numbers) {
          count.groups += bit != instrument::kLanes ? number : 0;
        }
      }
      Count count = last.at(site.place.to);
      if (site.kind == SiteKind::Block) {
        ran.blocks[{counted.function, site.place.to}] = count;
        continue;
      }
      const auto uniform = [&](std::uint8_t bit) {
        return (site.always & bit) != 0  ? count.groups
               : (site.cells & bit) != 0 ? numbers[bit] + numbers[instrument::kUniformBoth]
                                         : kNotCompared;
      };
      count.uniform = uniform(instrument::kUniform);
      count.uniform_address = uniform(instrument::kUniformAddress);
      ran.counts[{counted.function, site.instruction}] = count;
      ran.sites[{counted.function, site.instruction}] = site;
    }
  }
  return ran;
}

/// The recorded sites' places: the branch behind a call of see() or pick(), the load before one of seen().
std::map<std::uint32_t, spirv::Place> places_of(const Words& words, const std::map<spirv::Place, CounterSite>& sites) {
  const spirv::Module module = parsed(words);
  std::map<spirv::Id, std::uint32_t> constants;
  std::map<spirv::Id, std::string> names;
  for (const auto& i : module.globals) {
    if (i.is(spv::Op::OpConstant)) {
      constants[i[2]] = i[3];
    }
  }
  for (const auto& i : module.debug) {
    if (i.is(spv::Op::OpName)) {
      names[i[1]] = i.string(2).substr(0, i.string(2).find('('));
    }
  }
  std::map<std::uint32_t, spirv::Place> result;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    std::optional<std::uint32_t> waiting;
    std::optional<spirv::Place> load;
    for (std::uint32_t i = 0; i < module.functions[f].body.size(); ++i) {
      const auto& instruction = module.functions[f].body[i];
      const auto site = sites.find({f, i});
      if (instruction.is(spv::Op::OpLabel)) {
        waiting.reset();
        load.reset();
      } else if (instruction.is(spv::Op::OpFunctionCall)) {
        const std::string& callee = names[instruction[3]];
        if (callee == "see" || callee == "pick") {
          waiting = constants.at(instruction[4]);
        } else if (callee == "seen" && load) {
          result[constants.at(instruction[4])] = *load;
        }
      } else if (site != sites.end() && site->second.kind == SiteKind::Load) {
        load = spirv::Place{f, i};
      } else if (site != sites.end() && waiting) {
        result[*waiting] = {f, i};
      }
    }
  }
  return result;
}

/// Counts from the recorded lanes: the slow twin.
std::map<std::uint32_t, Count> evaluate(const std::vector<Execution>& executions) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Execution*>> groups;
  for (const Execution& execution : executions) {
    groups[{execution.site, execution.group}].push_back(&execution);
  }
  std::map<std::uint32_t, Count> result;
  for (const auto& [key, lanes] : groups) {
    Count& count = result[key.first];
    count.lanes += lanes.size();
    ++count.groups;
    bool value = true, address = true;
    for (const Execution* a : lanes) {
      for (const Execution* b : lanes) {
        value = value && a->word == b->word;
        address = address && a->address == b->address;
      }
    }
    count.uniform += value ? 1U : 0U;
    count.uniform_address += address ? 1U : 0U;
  }
  return result;
}

instrument::Options counting(const Case& how, bool blocks, bool trust) {
  instrument::Options options;
  options.count_branches = options.count_loads = true;
  options.trust_analysis = trust;
  options.ballot_extension = how.ballot_extension;
  if (blocks) {
    options.count_blocks = block_counts::CounterSet::All;
  }
  return options;
}

std::vector<Case> cases(const std::vector<bool>& kinds) {
  std::vector<Case> all;
  for (const bool extension : {false, true}) {
    for (const bool loads : kinds) {
      for (const bool optimised : {false, true}) {
        all.push_back({loads, optimised, extension});
      }
    }
  }
  return all;
}

class InstructionCounts : public testing::TestWithParam<Case> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
  Words words_ = shader(GetParam());
};

TEST_P(InstructionCounts, AreThoseOfTheRecordedLanes) {
  constexpr std::uint32_t kFirstLoad = 20, kShaderRecord = 38;
  for (const bool blocks : {false, true}) {
    const Ran ran = run(device(), words_, counting(GetParam(), blocks, false));
    const auto places = places_of(words_, ran.sites);
    const auto expected = evaluate(ran.executions);
    ASSERT_EQ(expected.size(), GetParam().loads ? 19U : 12U);
    for (const auto& [site, slow] : expected) {
      ASSERT_TRUE(places.contains(site)) << site;
      Count count = ran.counts.at(places.at(site));
      EXPECT_EQ(count.lanes, slow.lanes) << "site " << site;
      EXPECT_EQ(count.groups, slow.groups) << "site " << site;
      EXPECT_EQ(count.uniform, slow.uniform) << "site " << site;
      if (site >= kFirstLoad) {
        EXPECT_EQ(count.uniform_address, site == kShaderRecord ? kNotCompared : slow.uniform_address)
            << "site " << site;
      }
    }
  }
}

/// The slow twin of tables of values.
std::map<std::uint32_t, ValueTable> evaluate_values(const std::vector<Execution>& executions) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> groups;
  std::map<std::uint32_t, ValueTable> result;
  for (const Execution& execution : executions) {
    groups[{execution.site, execution.group}].insert(execution.word);
    ++result[execution.site][execution.word].first;
  }
  for (const auto& [key, words] : groups) {
    if (words.size() == 1) {
      ++result[key.first][*words.begin()].second;
    }
  }
  return result;
}

/// Of the shaders that load.
class CountsOfLoads : public InstructionCounts {};

/// Sites whose recorded word is the loaded number.
TEST_P(CountsOfLoads, AreThoseOfTheRecordedLanes) {
  instrument::Options options = counting(GetParam(), false, false);
  options.value_slots = 64;
  const Ran ran = run(device(), words_, options);
  const auto places = places_of(words_, ran.sites);
  const auto expected = evaluate_values(ran.executions);
  std::size_t uniform = 0, divergent = 0;
  for (const std::uint32_t site : {20U, 21U, 22U, 23U, 24U, 25U, 26U, 27U, 28U, 34U, 35U, 38U}) {
    const ValueTable& table = ran.tables.at(places.at(site));
    EXPECT_EQ(table, expected.at(site)) << "site " << site;
    for (const auto& [value, counts] : table) {
      uniform += counts.second != 0 ? 1U : 0U;
      divergent += counts.second == 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(uniform, 5U);
  EXPECT_GT(divergent, 5U);
}

/// Counts that follow from the shader's text, given groups of several lanes along x.
TEST_P(InstructionCounts, AreWhatTheShaderSays) {
  const Ran ran = run(device(), words_, counting(GetParam(), false, false));
  const auto places = places_of(words_, ran.sites);
  const auto of = [&](std::uint32_t site) { return ran.counts.at(places.at(site)); };
  if (GetParam().loads) {
    for (const std::uint32_t site : {22U, 26U, 28U}) {
      EXPECT_EQ(of(site).uniform, of(site).groups) << "equal values at other addresses, site " << site;
      EXPECT_LT(of(site).uniform_address, of(site).groups) << site;
    }
    for (const std::uint32_t site : {21U, 25U, 27U, 31U, 32U, 33U}) {
      EXPECT_LT(of(site).uniform, of(site).groups) << site;
    }
    for (const std::uint32_t site : {20U, 23U}) {
      EXPECT_EQ(of(site).uniform_address, of(site).groups) << site;
    }
    return;
  }
  for (const std::uint32_t site : {1U, 9U, 12U}) {
    EXPECT_EQ(of(site).uniform, of(site).groups) << site;
  }
  if (test::groups_are_rows(device())) {
    EXPECT_EQ(of(2).uniform, of(2).groups) << "of the row alone";
  }
  EXPECT_EQ(of(1).lanes, kWidth * kHeight);
  for (const std::uint32_t site : {3U, 4U, 6U, 7U, 10U, 11U}) {
    EXPECT_LT(of(site).uniform, of(site).groups) << site;
  }
  EXPECT_EQ(of(5).uniform, of(5).groups) << "never false, which only running tells";
  EXPECT_EQ(of(8).uniform, of(8).groups);
}

/// Without counters of their own, instructions that are proven to be uniform have the same counts.
TEST_P(InstructionCounts, OfProvenInstructionsAreTheSame) {
  const Ran all = run(device(), words_, counting(GetParam(), false, false));
  for (const bool blocks : {false, true}) {
    const Ran trusting = run(device(), words_, counting(GetParam(), blocks, true));
    const bool same_groups = test::groups_are_rows(device());
    if (same_groups) {
      EXPECT_EQ(trusting.counts, all.counts);
    }
    ASSERT_EQ(trusting.counts.size(), all.counts.size());
    for (const auto& [place, count] : all.counts) {
      EXPECT_EQ(trusting.counts.at(place).lanes, count.lanes) << place.instruction;
    }
    std::size_t proven = 0, from_blocks = 0;
    for (const auto& [place, site] : trusting.sites) {
      proven += site.always != 0 ? 1U : 0U;
      from_blocks += (site.cells & instrument::kLanes) == 0 ? 1U : 0U;
    }
    EXPECT_GE(proven, GetParam().loads ? 3U : 2U);
    EXPECT_TRUE(from_blocks != 0 || !blocks);
    for (const auto& [place, site] : trusting.sites) {
      const auto block = trusting.blocks.find({place.function, site.place.to});
      ASSERT_EQ(block != trusting.blocks.end(), blocks);
      if (blocks) {
        EXPECT_EQ(trusting.counts.at(place).lanes, block->second.lanes);
        if (same_groups) {
          EXPECT_EQ(trusting.counts.at(place).groups, block->second.groups);
        }
      }
    }
  }
}

TEST_P(InstructionCounts, NothingThatIsProvenDiffers) {
  const spirv::Module module = parsed(words_);
  const spirv::Analysed analysed(module);
  const auto entry = analysed.calls.function_of.at(module.entry_points.at(0)[2]);
  std::string reason;
  const auto levels = spirv::uniformity(analysed, entry, reason);
  ASSERT_TRUE(levels) << reason;
  const Ran ran = run(device(), words_, counting(GetParam(), false, false));
  std::size_t uniform = 0;
  for (const auto* list : {&levels->branches, &levels->results}) {
    for (const spirv::UniformityFacts& facts : *list) {
      const auto count = ran.counts.find(facts.place);
      if (count == ran.counts.end()) {
        continue;
      }
      if (facts.level != spirv::Level::Divergent) {
        EXPECT_EQ(count->second.uniform, count->second.groups) << facts.place.instruction;
        ++uniform;
      }
      if (facts.address != spirv::Level::Divergent && count->second.uniform_address != kNotCompared) {
        EXPECT_EQ(count->second.uniform_address, count->second.groups) << facts.place.instruction;
      }
    }
  }
  EXPECT_GE(uniform, 2U);
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  return std::string(tested.param.loads ? "Loads" : "Branches") +
         (tested.param.optimised ? "Optimised" : "AsCompiled") + (tested.param.ballot_extension ? "ByExtension" : "");
}

INSTANTIATE_TEST_SUITE_P(Shaders, InstructionCounts, testing::ValuesIn(cases({false, true})), name_of);
INSTANTIATE_TEST_SUITE_P(Shaders, CountsOfLoads, testing::ValuesIn(cases({true})), name_of);

}  // namespace
}  // namespace rayreplay
