// Counters of blocks on the Vulkan device at hand. The shaders' blocks also mark themselves, each with an atomic add of
// its own: the derived counts must be the marks, with all counters and with the minimal ones, in the shaders as the
// compiler made them and after an optimiser merged their blocks.
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "capture/block_counts/derived_counts.hpp"
#include "capture/block_counts/group_sources.hpp"
#include "capture/block_counts/invocation_ends.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/marked_program.hpp"

namespace rayreplay {
namespace {

using block_counts::CounterSet;
using test::kMarks, test::kWidth, test::kHeight, test::kStorage, test::kShaders;
using test::marked_blocks, test::parsed;
using test::Words;

struct Case {
  bool optimised = false;
  bool ballot_extension = false;
};

/// The counts of a launch: by shader and function, of its blocks.
struct Counted {
  std::vector<std::uint32_t> marks = std::vector<std::uint32_t>(kMarks);
  std::array<std::map<std::uint32_t, std::vector<std::uint64_t>>, kShaders> lanes, groups;
};

struct Modules {
  std::array<Words, kShaders> words;
  std::array<instrument::Result, kShaders> results;
  std::array<apps::Buffer, kShaders> counters;
};

/// Modules with counters of their own.
Modules count(const apps::Device& device, const Case& how, CounterSet set) {
  Modules modules;
  modules.words = test::marked_shaders(how.optimised);
  for (std::size_t s = 0; s < kShaders; ++s) {
    instrument::Options options;
    options.record = false;
    options.first_shader_id = static_cast<std::uint16_t>(s);
    options.count_blocks = set;
    options.wide_subgroups = true;
    options.ballot_extension = test::votes_by_extension(device, how.ballot_extension);
    instrument::Result& result = modules.results.at(s);
    result = instrument::instrument(modules.words.at(s), options);
    EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
    apps::Buffer& counters = modules.counters.at(s);
    counters = apps::Buffer(device, result.counters.bytes(), kStorage, apps::MemoryKind::Readback);
    std::memset(counters.mapped(), 0, counters.size());
    result.spirv[result.counters.address_word] = static_cast<std::uint32_t>(counters.address());
    result.spirv[result.counters.address_word + 1] = static_cast<std::uint32_t>(counters.address() >> 32);
  }
  return modules;
}

/// Counts of a shader, from its counters.
void derive(const Words& words, const instrument::CounterLayout& layout, const std::byte* counters,
            std::map<std::uint32_t, std::vector<std::uint64_t>>& lanes,
            std::map<std::uint32_t, std::vector<std::uint64_t>>& groups) {
  const spirv::Module module = parsed(words);
  const block_counts::InvocationEnds ends(module);
  for (const instrument::CountedFunction& counted : layout.functions) {
    const spirv::Function& function = module.functions.at(counted.function);
    std::string reason;
    const auto flow = spirv::control_flow(function, spirv::WideSelectors(module), reason);
    ASSERT_TRUE(flow) << reason;
    std::vector<std::uint64_t> counts;
    std::vector<block_counts::CounterSite> sites;
    auto& of_groups = groups[counted.function];
    of_groups.resize(flow->blocks.size());
    const auto sources = block_counts::group_sources(function, *flow);
    for (const instrument::CounterSite& site : counted.sites) {
      std::array<std::uint64_t, 2> counter{};
      std::memcpy(counter.data(), counters + (counted.first + site.cell) * 8, site.cells == 3 ? 16 : 8);
      if ((site.cells & instrument::kLanes) != 0) {
        counts.push_back(counter[0]);
        sites.push_back(site.place);
      }
      if ((site.cells & instrument::kGroups) != 0) {
        of_groups[site.place.to] = site.cells == instrument::kGroups ? counter[0] : counter[1];
      }
    }
    for (spirv::Node block = 0; block < of_groups.size(); ++block) {
      of_groups[block] = of_groups[sources[block]];
    }
    const auto derived = block_counts::derive_counts(*flow, ends.blocks_of(function, *flow), sites, counts);
    EXPECT_EQ(derived.fault, "");
    lanes[counted.function] = derived.blocks;
  }
}

Counted run(const apps::Device& device, const Case& how, CounterSet set) {
  const apps::Buffer marks(device, kMarks * 4, kStorage, apps::MemoryKind::Readback);
  std::memset(marks.mapped(), 0, marks.size());
  const Modules modules = count(device, how, set);
  std::array<Words, kShaders> words;
  for (std::size_t s = 0; s < kShaders; ++s) {
    words.at(s) = modules.results.at(s).spirv;
  }
  test::launch_marked(device, words, marks);
  Counted counted;
  std::memcpy(counted.marks.data(), marks.mapped(), kMarks * 4);
  for (std::size_t s = 0; s < kShaders; ++s) {
    derive(modules.words.at(s), modules.results.at(s).counters, modules.counters.at(s).mapped(), counted.lanes.at(s),
           counted.groups.at(s));
  }
  return counted;
}

class BlockCounts : public testing::TestWithParam<Case> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
};

TEST_P(BlockCounts, AreTheShadersOwnMarks) {
  for (const CounterSet set : {CounterSet::All, CounterSet::Minimal, CounterSet::Sparse}) {
    const Counted counted = run(device(), GetParam(), set);
    const auto words = test::marked_shaders(GetParam().optimised);
    std::size_t marked = 0;
    for (std::size_t s = 0; s < kShaders; ++s) {
      for (const auto& [mark, count] : marked_blocks(words.at(s), counted.lanes.at(s))) {
        EXPECT_EQ(count, counted.marks.at(mark)) << "mark " << mark;
        ++marked;
      }
    }
    EXPECT_GE(marked, 30U);
    // What does not depend on how the shaders were compiled: 16 × 4 threads, 16 of them before triangles.
    EXPECT_EQ(counted.marks[0], kWidth * kHeight);
    EXPECT_EQ(counted.marks[16], 0U);
    EXPECT_EQ(counted.marks[28], 16U);
    EXPECT_EQ(counted.marks[33], 8U);
    EXPECT_EQ(counted.marks[28], counted.marks[29] + counted.marks[30]);
    EXPECT_EQ(counted.marks[35], counted.marks[32]);
    EXPECT_GT(counted.marks[31], 0U);
  }
}

TEST_P(BlockCounts, OfTheMinimalSetAreThoseOfAll) {
  const Counted all = run(device(), GetParam(), CounterSet::All);
  const Counted minimal = run(device(), GetParam(), CounterSet::Minimal);
  EXPECT_EQ(all.marks, minimal.marks);
  EXPECT_EQ(all.lanes, minimal.lanes);
}

/// `All` counts the groups of every block for itself.
TEST_P(BlockCounts, OfTheSparseSetAreThoseOfAll) {
  const Counted all = run(device(), GetParam(), CounterSet::All);
  const Counted sparse = run(device(), GetParam(), CounterSet::Sparse);
  EXPECT_EQ(all.marks, sparse.marks);
  EXPECT_EQ(all.lanes, sparse.lanes);
  if (test::groups_are_rows(device())) {  // the same in every launch
    EXPECT_EQ(all.groups, sparse.groups);
  }
}

TEST_P(BlockCounts, GroupsHaveTheLanes) {
  const Counted counted = run(device(), GetParam(), CounterSet::Sparse);
  std::uint64_t most = 0;
  for (std::size_t s = 0; s < kShaders; ++s) {
    for (const auto& [function, lanes] : counted.lanes.at(s)) {
      const auto& groups = counted.groups.at(s).at(function);
      for (std::size_t b = 0; b < lanes.size(); ++b) {
        EXPECT_LE(groups[b], lanes[b]);
        EXPECT_EQ(groups[b] == 0, lanes[b] == 0);
        most = std::max(most, groups[b] == 0 ? 0 : lanes[b] / groups[b]);
      }
    }
  }
  EXPECT_GT(most, 1U);
}

INSTANTIATE_TEST_SUITE_P(Shaders, BlockCounts,
                         testing::Values(Case{false, false}, Case{true, false}, Case{false, true}, Case{true, true}),
                         [](const auto& tested) {
                           return std::string(tested.param.optimised ? "Optimised" : "AsCompiled") +
                                  (tested.param.ballot_extension ? "ByExtension" : "");
                         });

}  // namespace
}  // namespace rayreplay
