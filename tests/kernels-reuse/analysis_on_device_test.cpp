// An analysis whose distances come from a device is the one without: every sum, window, element and pixel.
#include "sim/memory/results/analysis.hpp"

#include <gtest/gtest.h>

#include "kernels/accelerator.hpp"
#include "tests/memory/analysis_cases.hpp"
#include "tests/support/accelerator.hpp"

namespace rayreplay::memory {
namespace {

using namespace test;

Shape shape_of(std::uint32_t sms, std::uint64_t lines) {
  return {.sms = sms, .lines = lines, .most_lanes = 3};
}

/// Lines of the L2 are shorter than those of the L1.
AnalysisOptions with_small_l2_lines(std::uint32_t sms) {
  AnalysisOptions options = options_of({.sms = sms});
  options.l2 = {.bytes = std::uint64_t{256} * 64, .line_bytes = 64, .ways = 8, .sector_bytes = 32};
  return options;
}

class AnalysisOnDevice : public testing::Test {
 protected:
  void compare(AnalysisOptions options, const std::vector<TransactionBlock>& blocks) {
    const Outcome without = run(options, blocks);
    options.accelerator = device_.get();
    const Outcome with = run(options, blocks);
    expect_equal(with, without);
    EXPECT_EQ(with.result.reuse_engine, without.result.reuse_engine);
  }
  std::unique_ptr<Accelerator> device_ = rayreplay::test::open_accelerator();
};

TEST_F(AnalysisOnDevice, IsTheOneWithout) {
  const std::vector<TransactionBlock> blocks = {
      random_block(9000, shape_of(6, 700), 1), {}, random_block(4000, shape_of(6, 5000), 2)};
  for (const char* l1_model : {"lru:write=through,allocate=false", "sdcm"}) {
    for (const char* l2_model : {"lru", "sdcm"}) {
      for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
        SCOPED_TRACE(std::string(l1_model) + " " + l2_model);
        AnalysisOptions options = with_small_l2_lines(6);
        options.l1_model = l1_model;
        options.l2_model = l2_model;
        options.l2_feed = feed;
        compare(options, blocks);
      }
    }
  }
  ASSERT_EQ(device_->records().size(), 1U);
  EXPECT_EQ(device_->records()[0].stage, "reuse distances");
  EXPECT_EQ(device_->records()[0].runs, 4U * 2U * 2U);  // L1 and L2, one chunk each
}

TEST_F(AnalysisOnDevice, LevelsThatAreNotThere) {
  const std::vector<TransactionBlock> blocks = {random_block(3000, shape_of(3, 300), 3)};
  AnalysisOptions options = with_small_l2_lines(3);
  options.l1.bytes = 0;
  compare(options, blocks);
  options = with_small_l2_lines(3);
  options.l2.bytes = 0;
  compare(options, blocks);
  compare(with_small_l2_lines(3), {});
  options = with_small_l2_lines(3);
  options.distances = false;
  const std::uint64_t runs = device_->records()[0].runs;
  compare(options, blocks);
  EXPECT_EQ(device_->records()[0].runs, runs);
  options.l2_model = "sdcm";
  compare(options, blocks);
}

TEST_F(AnalysisOnDevice, WindowsCutItAnywhere) {
  const std::vector<TransactionBlock> blocks = {random_block(2500, shape_of(4, 900), 4),
                                                random_block(1500, shape_of(4, 900), 5)};
  AnalysisOptions options = with_small_l2_lines(4);
  for (const std::uint64_t every : {130U, 2000U}) {
    options.window_requests = every;
    compare(options, blocks);
  }
}

TEST_F(AnalysisOnDevice, EnginesThatSampleStayOnTheProcessor) {
  AnalysisOptions options = with_small_l2_lines(4);
  options.reuse_engine = "sampled:rate=0.25";
  compare(options, {random_block(2500, shape_of(4, 900), 4)});
  ASSERT_EQ(device_->records().size(), 1U);
  EXPECT_EQ(device_->records()[0].device, "CPU");
  EXPECT_EQ(device_->records()[0].reason, "the reuse engine samples");
}

}  // namespace
}  // namespace rayreplay::memory
