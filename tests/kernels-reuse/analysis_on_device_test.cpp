// An analysis whose distances come from a device is the one without: every sum, window, element and pixel.
#include "sim/memory/results/analysis.hpp"

#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "kernels/accelerator.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kElements = 500;
constexpr std::uint64_t kPixels = 100;

TransactionBlock random_block(std::size_t size, std::uint32_t sms, std::uint64_t lines, std::uint64_t seed) {
  TransactionBlock block;
  std::uint64_t next = 0;
  const auto draw = [&](std::uint64_t limit) { return split_mix(seed, next++) % limit; };
  for (std::size_t i = 0; i < size; ++i) {
    Transaction one;
    one.line = draw(3) == 0 ? draw(8) : draw(lines);
    one.sm = static_cast<std::uint16_t>(draw(4) == 0 ? 0 : draw(sms));
    one.sectors = static_cast<std::uint8_t>(1 + draw(15));
    one.lanes = static_cast<std::uint8_t>(1 + draw(3));
    one.kind = static_cast<DataKind>(draw(kDataKinds));
    one.flags = draw(4) == 0 ? kStore : 0;
    block.transactions.push_back(one);
    for (std::uint32_t lane = 0; lane < one.lanes; ++lane) {
      block.requests.push_back(
          {static_cast<std::uint32_t>(draw(kElements)), static_cast<std::uint32_t>(draw(kPixels))});
    }
  }
  return block;
}

AnalysisOptions options_of(std::uint32_t sms) {
  AnalysisOptions options;
  options.sms = sms;
  options.l1 = {.bytes = std::uint64_t{16} * 128, .line_bytes = 128, .ways = 4, .sector_bytes = 32};
  options.l2 = {.bytes = std::uint64_t{256} * 64, .line_bytes = 64, .ways = 8, .sector_bytes = 32};
  options.elements = true;
  options.element_count = kElements;
  options.pixels = kPixels;
  return options;
}

struct Outcome {
  AnalysisResult result;
  std::vector<ElementRow> elements;
};

Outcome run(AnalysisOptions options, const std::vector<TransactionBlock>& blocks) {
  Outcome made;
  options.take_elements = [&](std::uint32_t, const std::vector<ElementRow>& rows) {
    made.elements.insert(made.elements.end(), rows.begin(), rows.end());
  };
  Analysis analysis(options);
  for (const TransactionBlock& block : blocks) {
    analysis.take(block);
  }
  made.result = analysis.finish();
  return made;
}

void expect_equal(const WindowSums& a, const WindowSums& b) {
  EXPECT_TRUE(a.levels == b.levels);
  EXPECT_TRUE(a.sms == b.sms);
  EXPECT_EQ(a.dram_read_bytes, b.dram_read_bytes);
  EXPECT_EQ(a.dram_write_bytes, b.dram_write_bytes);
}

void expect_equal(const Outcome& a, const Outcome& b) {
  expect_equal(a.result.total, b.result.total);
  ASSERT_EQ(a.result.windows.size(), b.result.windows.size());
  for (std::size_t i = 0; i < a.result.windows.size(); ++i) {
    expect_equal(a.result.windows[i], b.result.windows[i]);
  }
  for (std::size_t level = 0; level < kLevels; ++level) {
    EXPECT_EQ(a.result.levels[level].counts, b.result.levels[level].counts);
    EXPECT_TRUE(a.result.levels[level].histogram == b.result.levels[level].histogram) << level;
    EXPECT_EQ(a.result.levels[level].caches, b.result.levels[level].caches);
  }
  EXPECT_TRUE(a.result.pixels == b.result.pixels);
  EXPECT_EQ(a.result.reuse_engine, b.result.reuse_engine);
  ASSERT_EQ(a.elements.size(), b.elements.size());
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    EXPECT_EQ(a.elements[i].element, b.elements[i].element);
    EXPECT_TRUE(a.elements[i].sums == b.elements[i].sums);
  }
}

class AnalysisOnDevice : public testing::Test {
 protected:
  AnalysisOnDevice() {
    std::vector<std::unique_ptr<kernels::Device>> devices;
    devices.push_back(test::open_test_device());
    device_ = std::make_unique<Accelerator>(std::move(devices), true, Accelerator::Log());
  }
  void compare(AnalysisOptions options, const std::vector<TransactionBlock>& blocks) {
    const Outcome without = run(options, blocks);
    options.accelerator = device_.get();
    expect_equal(run(options, blocks), without);
  }
  std::unique_ptr<Accelerator> device_;
};

TEST_F(AnalysisOnDevice, IsTheOneWithout) {
  const std::vector<TransactionBlock> blocks = {random_block(9000, 6, 700, 1), {}, random_block(4000, 6, 5000, 2)};
  for (const char* l1_model : {"lru:write=through,allocate=false", "sdcm"}) {
    for (const char* l2_model : {"lru", "sdcm"}) {
      for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
        SCOPED_TRACE(std::string(l1_model) + " " + l2_model);
        AnalysisOptions options = options_of(6);
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
  const std::vector<TransactionBlock> blocks = {random_block(3000, 3, 300, 3)};
  AnalysisOptions options = options_of(3);
  options.l1.bytes = 0;
  compare(options, blocks);
  options = options_of(3);
  options.l2.bytes = 0;
  compare(options, blocks);
  compare(options_of(3), {});
  options = options_of(3);
  options.distances = false;
  const std::uint64_t runs = device_->records()[0].runs;
  compare(options, blocks);
  EXPECT_EQ(device_->records()[0].runs, runs);
  options.l2_model = "sdcm";
  compare(options, blocks);
}

TEST_F(AnalysisOnDevice, WindowsCutItAnywhere) {
  const std::vector<TransactionBlock> blocks = {random_block(2500, 4, 900, 4), random_block(1500, 4, 900, 5)};
  AnalysisOptions options = options_of(4);
  for (const std::uint64_t every : {130U, 2000U}) {
    options.window_requests = every;
    compare(options, blocks);
  }
}

TEST_F(AnalysisOnDevice, EnginesThatSampleStayOnTheProcessor) {
  AnalysisOptions options = options_of(4);
  options.reuse_engine = "sampled:rate=0.25";
  compare(options, {random_block(2500, 4, 900, 4)});
  ASSERT_EQ(device_->records().size(), 1U);
  EXPECT_EQ(device_->records()[0].device, "CPU");
  EXPECT_EQ(device_->records()[0].reason, "the reuse engine samples");
}

}  // namespace
}  // namespace rayreplay::memory
