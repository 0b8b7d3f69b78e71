// Counters of blocks in real programs on a real driver: nothing changes for the program, and the counts are its
// threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "capture/instrument/probes/record.h"
#include "tests/layer/captured_run.hpp"

namespace rayreplay::test {
namespace {

std::uint64_t threads_by_launches(const SpoolContent& content) {
  std::uint64_t threads = 0;
  for (const auto& launch : content.launches) {
    threads += std::uint64_t{launch.width} * launch.height * launch.depth;
  }
  return threads;
}

/// The counts of the scenarios' ray-generation shaders' first blocks: their only function is the module's first, and
/// its first block has a counter, or is its only one.
std::uint64_t threads_by_counters(const SpoolContent& content) {
  std::uint64_t threads = 0;
  for (const auto& counts : content.counts) {
    const auto counters = std::find_if(content.counters.begin(), content.counters.end(),
                                       [&](const auto& known) { return known.module == counts.module; });
    const auto shader = std::find_if(content.shaders.begin(), content.shaders.end(),
                                     [&](const auto& known) { return known.shader == counts.module; });
    if (counters == content.counters.end() || shader == content.shaders.end()) {
      ADD_FAILURE() << "counts without counters";
      return 0;
    }
    EXPECT_EQ(counts.cells.size(), counters->cells);
    const auto& function = counters->functions.at(0);
    EXPECT_EQ(function.sites.at(0).kind, spool::SiteKind::Block);
    EXPECT_EQ(function.sites.at(0).from, spool::kNone);
    EXPECT_EQ(function.sites.at(0).to, 0U);
    EXPECT_EQ(function.sites.at(0).cells & 1U, 1U) << "its first cell has lanes";
    threads += shader->stage == 0 ? counts.cells.at(function.first + function.sites.at(0).cell) : 0;
  }
  return threads;
}

class CountedBlocksTest : public testing::TestWithParam<const char*> {};

/// The entry's count of each ray-generation shader is the launches' threads, whatever pipelines are made of and
/// whenever they are instrumented.
TEST_P(CountedBlocksTest, AreTheLaunchesThreads) {
  const auto plain = run_plain(GetParam());
  for (const char* counters : {"all", "minimal"}) {
    for (const char* frames : {"", "0.."}) {
      const auto captured = run_captured(GetParam(), {{"RAYREPLAY_CAPTURE_PROFILE", "blocks"},
                                                      {"RAYREPLAY_CAPTURE_BLOCK_COUNTERS", counters},
                                                      {"RAYREPLAY_CAPTURE_FRAMES", frames}});
      EXPECT_EQ(captured.output, plain.output);
      EXPECT_EQ(captured.errors, plain.errors);
      EXPECT_EQ(captured.status, plain.status);
      ASSERT_THAT(captured.spools, testing::SizeIs(1));
      const SpoolContent& content = captured.spools.front();
      EXPECT_TRUE(content.sound);
      EXPECT_EQ(content.all_notes(), "");
      EXPECT_GT(threads_by_launches(content), 0U);
      EXPECT_EQ(threads_by_counters(content), threads_by_launches(content)) << counters << " " << frames;
    }
  }
}

/// With addresses of accesses the program stays the same, and every record names a site of its shader.
TEST_P(CountedBlocksTest, AccessesChangeNothing) {
  const auto plain = run_plain(GetParam());
  for (const char* sample : {"1", "3"}) {
    const auto captured = run_captured(
        GetParam(), {{"RAYREPLAY_CAPTURE_PROFILE", "memory"}, {"RAYREPLAY_CAPTURE_PROFILE_MEMORY_SAMPLE", sample}});
    EXPECT_EQ(captured.output, plain.output);
    EXPECT_EQ(captured.errors, plain.errors);
    EXPECT_EQ(captured.status, plain.status);
    ASSERT_THAT(captured.spools, testing::SizeIs(1));
    const SpoolContent& content = captured.spools.front();
    EXPECT_TRUE(content.sound);
    EXPECT_EQ(content.all_notes(), "");
    std::map<std::uint32_t, const spool::Accesses*> of_shader;
    for (const spool::Accesses& accesses : content.accesses) {
      for (const spool::AccessSite& site : accesses.sites) {
        for (const std::uint16_t shader : site.shaders) {
          of_shader[shader] = &accesses;
        }
      }
    }
    std::size_t recorded = 0;
    for (const auto& launch : content.launches) {
      const auto words = content.words.find(launch.launch);
      for (const Chunk& chunk : words == content.words.end() ? std::vector<Chunk>{} : chunks_of(words->second)) {
        if (chunk.kind == RR_ACCESS_OFFSET || chunk.kind == RR_ACCESS_ADDRESS) {
          ASSERT_TRUE(of_shader.contains(chunk.shader));
          for (const std::uint32_t thread : chunk.threads) {
            EXPECT_EQ(thread % std::stoul(sample), 0U);
          }
          recorded += chunk.threads.size();
        }
      }
    }
    EXPECT_EQ(recorded != 0, !content.accesses.empty());
  }
}

/// With branches and loads the program stays the same, and so do the counts of its blocks.
TEST_P(CountedBlocksTest, StayWithBranchesAndLoads) {
  const auto plain = run_plain(GetParam());
  const auto captured = run_captured(GetParam(), {{"RAYREPLAY_CAPTURE_PROFILE", "all"}});
  EXPECT_EQ(captured.output, plain.output);
  EXPECT_EQ(captured.errors, plain.errors);
  EXPECT_EQ(captured.status, plain.status);
  ASSERT_THAT(captured.spools, testing::SizeIs(1));
  const SpoolContent& content = captured.spools.front();
  EXPECT_TRUE(content.sound);
  EXPECT_EQ(content.all_notes(), "");
  EXPECT_EQ(threads_by_counters(content), threads_by_launches(content));
}

INSTANTIATE_TEST_SUITE_P(Programs, CountedBlocksTest,
                         testing::Values("modules", "inline", "library", "gone", "deferred", "dynamic-stack",
                                         "compute-between", "indirect", "many-launches", "resubmitted", "secondary",
                                         "threads", "frames", "churn"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Without records, too: counters alone.
TEST(CountedBlocks, NeedNoRecords) {
  const auto content =
      run_captured("many-launches", {{"RAYREPLAY_CAPTURE_PROFILE", "blocks"}, {"RAYREPLAY_CAPTURE_RECORD", "off"}})
          .spools.at(0);
  EXPECT_EQ(content.all_notes(), "");
  EXPECT_GT(threads_by_launches(content), 0U);
  EXPECT_EQ(threads_by_counters(content), threads_by_launches(content));
}

}  // namespace
}  // namespace rayreplay::test
