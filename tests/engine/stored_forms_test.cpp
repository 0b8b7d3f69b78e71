// Metrics and packings as bytes: what is read is what was written, and nothing else is read.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "sim/engine/stage_metrics.hpp"
#include "sim/engine/stored_packing.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::test {
namespace {

using experiment::MetricSet;

MetricSet some_metrics() {
  MetricSet metrics;
  metrics.add("l1_hit_rate", 1.0 / 3.0);
  metrics.add("simt_efficiency", 0.1);
  metrics.add("l1_accesses", 9007199254740991.0);
  metrics.device = "NVIDIA H200, CPU";
  return metrics;
}

TEST(StoredForms, MetricsComeBackBitByBit) {
  const MetricSet metrics = some_metrics();
  const auto read = experiment::read_metrics(experiment::write_metrics(metrics));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->values(), metrics.values());
  EXPECT_EQ(read->device, metrics.device);
  ASSERT_EQ(metrics.values().size(), 3U);
  EXPECT_LT(metrics.values()[0].first, metrics.values()[1].first) << "in the order of the list, however they came";
}

TEST(StoredForms, DamagedMetricsAreNotRead) {
  const std::string bytes = experiment::write_metrics(some_metrics());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(experiment::read_metrics(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(experiment::read_metrics(bytes + "more\n"));
  for (const char* wrong : {"l1_hit_rat ", "nothing "}) {
    std::string other = bytes;
    other.replace(other.find("l1_hit_rate "), std::string("l1_hit_rate ").size(), wrong);
    EXPECT_FALSE(experiment::read_metrics(other)) << wrong;
  }
}

TEST(StoredForms, UndeclaredMetricsAreAFault) {
  MetricSet metrics;
  EXPECT_THROW(metrics.add("l3_hit_rate", 1), Error);
}

scheduler::WarpAssignment some_packing() {
  scheduler::WarpAssignment assignment;
  assignment.warp_size = 4;
  for (const std::uint32_t thread : {3U, 1U, 2U, 0U, 4U, 5U, scheduler::kNoThread, scheduler::kNoThread}) {
    assignment.thread_at.push_back(thread);
  }
  assignment.start_rank = {1, 0};
  assignment.tile = {0, 0};
  return assignment;
}

TEST(StoredForms, PackingsComeBack) {
  const scheduler::WarpAssignment packing = some_packing();
  const auto read = experiment::read_packing(experiment::write_packing(packing), 6);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->warp_size, packing.warp_size);
  EXPECT_EQ(read->thread_at, packing.thread_at);
  EXPECT_EQ(read->start_rank, packing.start_rank);
  EXPECT_EQ(read->tile, packing.tile);
}

TEST(StoredForms, DamagedPackingsAreNotRead) {
  const std::string bytes = experiment::write_packing(some_packing());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(experiment::read_packing(bytes.substr(0, length), 6)) << length;
  }
  EXPECT_FALSE(experiment::read_packing(bytes + "1234", 6));
  EXPECT_FALSE(experiment::read_packing(bytes, 7)) << "of another launch";
  std::string twice = bytes;
  twice[16] = 1;  // the first thread is the second one's
  EXPECT_FALSE(experiment::read_packing(twice, 6));
}

}  // namespace
}  // namespace rayreplay::test
