// Values of loads on the Vulkan device at hand: random programs store what they load, so that the stored words are the
// slow twin of the tables that the shader fills.
#include <algorithm>
#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/random_buffer_program.hpp"

namespace rayreplay {
namespace {

using instrument::CounterSite;
using instrument::SiteKind;
using Words = std::vector<std::uint32_t>;
using Program = test::RandomBufferProgram;

constexpr std::uint32_t kColumns = 16, kRows = 4, kThreads = kColumns * kRows;
constexpr std::uint32_t kDataWords = 1U << 14;
constexpr VkBufferUsageFlags kBuffer = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// What the cells hold before: their content does not matter.
constexpr std::uint64_t kGarbage = 0x7777'0000'1234;

struct Seen {
  std::uint64_t lanes = 0, uniform_groups = 0;
};
/// A component's table.
struct Table {
  std::uint64_t lanes = 0, groups = 0;
  std::map<std::uint32_t, Seen> values;
  [[nodiscard]] std::uint64_t tabled() const {
    std::uint64_t sum = 0;
    for (const auto& [value, seen] : values) {
      sum += seen.lanes;
    }
    return sum;
  }
};

struct Ran {
  Words stored;                                                    ///< by thread and load
  std::map<std::pair<std::uint32_t, std::uint8_t>, Table> tables;  ///< by instruction and component
  std::vector<std::string> notes;
};

/// `executions`: of the site before it, for sites without lanes and groups of their own.
Table table_of(const std::byte* cells, const CounterSite& site, std::uint32_t mark, Table& executions) {
  const auto cell = [&](std::size_t at) {
    std::uint64_t number = 0;
    std::memcpy(&number, cells + (site.cell + at) * 8, 8);
    return number;
  };
  if (site.cells != 0) {
    executions = {cell(0) - kGarbage, cell(1) - kGarbage, {}};
  }
  Table table = executions;
  for (std::uint32_t slot = 0; slot < site.slots; ++slot) {
    const std::size_t at = instrument::slots_of(site) + std::size_t{slot} * instrument::kSlotCells;
    const Seen seen{cell(at + 1) - kGarbage, cell(at + 2) - kGarbage};
    if (const std::uint64_t key = cell(at); key >> 32 == mark) {
      EXPECT_TRUE(table.values.emplace(static_cast<std::uint32_t>(key), seen).second);
    } else {
      EXPECT_EQ(key, kGarbage);
      EXPECT_EQ(seen.lanes + seen.uniform_groups, 0U);
    }
  }
  return table;
}

/// Whether probes vote by the extension.
class LoadedValues : public testing::TestWithParam<bool> {
 protected:
  LoadedValues() : data_(numbers(kDataWords)), far_(numbers(kDataWords)) {}

  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
  static apps::Buffer numbers(std::uint32_t count) {
    Words words(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      words[i] = test::word_at(4 * i);
    }
    return apps::upload(device(), words, kBuffer);
  }

  /// `slots` 0: not instrumented. The module is launched `times` times with one set of counters.
  Ran run(const Words& spirv, std::uint32_t record_bytes, std::uint32_t slots, std::uint32_t times = 1) {
    instrument::Options options;
    options.record = false;
    options.wide_subgroups = true;
    options.value_slots = slots;
    options.ballot_extension = test::votes_by_extension(device(), GetParam());
    instrument::Result result;
    Words words = spirv;
    if (slots != 0) {
      result = instrument::instrument(spirv, options);
      EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
    }
    const apps::Buffer counters(device(), std::max<std::uint64_t>(result.counters.bytes(), 8), kBuffer,
                                apps::MemoryKind::Readback);
    for (std::size_t at = 0; at + 8 <= counters.size(); at += 8) {
      std::memcpy(counters.mapped() + at, &kGarbage, 8);
    }
    const std::uint32_t mark = slots == 3 ? instrument::kTableMark : 0x80000005;
    if (slots != 0) {
      words = result.spirv;
      EXPECT_EQ(words.at(result.counters.mark_word), instrument::kTableMark);
      words[result.counters.mark_word] = mark;
      words[result.counters.address_word] = static_cast<std::uint32_t>(counters.address());
      words[result.counters.address_word + 1] = static_cast<std::uint32_t>(counters.address() >> 32);
    }
    const apps::Buffer stored(device(), std::size_t{kThreads} * Program::kLoads * 4, kBuffer,
                              apps::MemoryKind::Readback);
    std::memset(stored.mapped(), 0, stored.size());
    trace(words, stored, record_bytes, times);
    Ran ran;
    ran.notes = result.notes;
    ran.stored.resize(stored.size() / 4);
    std::memcpy(ran.stored.data(), stored.mapped(), stored.size());
    for (const instrument::CountedFunction& counted : result.counters.functions) {
      EXPECT_EQ(counted.first, 0U);  // the programs have one function
      Table executions;
      for (const CounterSite& site : counted.sites) {
        EXPECT_EQ(site.kind, SiteKind::Value);
        EXPECT_EQ(site.slots, slots);
        EXPECT_TRUE(ran.tables
                        .emplace(std::pair(site.instruction, site.component),
                                 table_of(counters.mapped(), site, mark, executions))
                        .second);
      }
    }
    return ran;
  }

  void trace(const Words& words, const apps::Buffer& stored, std::uint32_t record_bytes, std::uint32_t times) {
    apps::DescriptorSet descriptors(
        device(), std::vector<apps::Binding>{apps::StorageBinding{&stored}, apps::StorageBinding{&data_}});
    apps::PipelineBuilder builder;
    const auto group = builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, words));
    const apps::RayTracingPipeline pipeline(device(), builder, descriptors);
    apps::ShaderRecord record{group, std::vector<std::byte>(record_bytes)};
    for (std::uint32_t at = 0; at < record_bytes; at += 4) {
      const std::uint32_t word = test::word_at(at);
      std::memcpy(record.data.data() + at, &word, 4);
    }
    const apps::ShaderBindingTable table(device(), pipeline, record, {}, {});
    device().submit([&](VkCommandBuffer commands) {
      const VkDescriptorSet set = descriptors.handle();
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                              nullptr);
      for (std::uint32_t launch = 0; launch < times; ++launch) {
        table.trace(commands, kColumns, kRows);
      }
      VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                              VK_ACCESS_HOST_READ_BIT};
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                           &barrier, 0, nullptr, 0, nullptr);
    });
  }

  apps::Buffer data_, far_;
};

/// Executions by value of a component of the k-th load: words of a buffer are the numbers of their places.
std::map<std::uint32_t, std::uint64_t> twin(const Words& stored, std::uint32_t k, std::uint32_t component) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    ++counts[stored[t * Program::kLoads + k] + component];
  }
  return counts;
}

/// Whatever the memory held; with room for all values the tables are the twin's; with less room each value in a table
/// has all its executions.
TEST_P(LoadedValues, OfRandomProgramsAreTheStoredOnes) {
  constexpr std::uint32_t kPrograms = 8;
  std::size_t components = 0, full = 0;
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    const Program program(seed, far_.address(), kDataWords * 4);
    const Words spirv = program.assemble();
    ASSERT_FALSE(spirv.empty()) << program.text;
    const Ran plain = run(spirv, program.record_bytes, 0);
    for (const auto& [slots, times] : {std::pair{64U, 3U}, {3U, 1U}}) {
      const Ran ran = run(spirv, program.record_bytes, slots, times);
      EXPECT_EQ(ran.stored, plain.stored) << seed;
      EXPECT_THAT(ran.notes, testing::IsEmpty());
      auto next = ran.tables.begin();
      for (std::uint32_t k = 0; k < program.loads.size(); ++k) {
        if (program.loads[k].kind == instrument::AccessKind::Atomic) {
          continue;
        }
        for (std::uint32_t c = 0; c < program.loads[k].bytes / 4; ++c, ++next) {
          ASSERT_NE(next, ran.tables.end());
          const Table& table = next->second;
          const auto expected = twin(plain.stored, k, c);
          EXPECT_EQ(next->first.second, c);
          EXPECT_EQ(table.lanes, std::uint64_t{kThreads} * times);
          EXPECT_EQ(table.values.size(), std::min<std::size_t>(expected.size(), slots)) << seed << " load " << k;
          std::uint64_t uniform = 0;
          for (const auto& [value, seen] : table.values) {
            ASSERT_TRUE(expected.contains(value)) << seed << " load " << k << ": " << value;
            EXPECT_EQ(seen.lanes, expected.at(value) * times) << seed << " load " << k;
            uniform += seen.uniform_groups;
          }
          EXPECT_LE(uniform, table.groups);
          if (expected.size() == 1) {
            EXPECT_EQ(uniform, table.groups);
          }
          if (expected.size() <= slots) {
            EXPECT_EQ(table.tabled(), table.lanes);
          } else {
            EXPECT_LT(table.tabled(), table.lanes);
            ++full;
          }
          ++components;
        }
      }
      EXPECT_EQ(next, ran.tables.end());
    }
  }
  EXPECT_GT(components, 100U);
  EXPECT_GT(full, 10U);
}

INSTANTIATE_TEST_SUITE_P(Shaders, LoadedValues, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "ByExtension" : "ByTheCore"; });

}  // namespace
}  // namespace rayreplay
