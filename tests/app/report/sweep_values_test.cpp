// How values of a sweep are written in pictures and on pages.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/charts/axis.hpp"
#include "app/report/sweep/sweep_values.hpp"

namespace rayreplay::test {
namespace {

using report::Measure;
using report::parameter_text;
using ::testing::ElementsAre;

sweep::ResultColumn column(const std::string& unit, sweep::ColumnType type = sweep::ColumnType::Real) {
  sweep::ResultColumn result;
  result.name = "value";
  result.unit = unit;
  result.type = type;
  return result;
}

std::vector<std::string> labels(const std::vector<pictures::PlotTick>& ticks) {
  std::vector<std::string> result;
  result.reserve(ticks.size());
  for (const pictures::PlotTick& tick : ticks) {
    result.push_back(tick.label);
  }
  return result;
}

TEST(SweepValues, ParametersKeepWhatTellsThemApart) {
  EXPECT_EQ(parameter_text(column("bytes"), 65536), "64 KiB");
  EXPECT_EQ(parameter_text(column("bytes"), 0x1.8p20), "1.5 MiB");
  EXPECT_EQ(parameter_text(column("bytes"), 100), "100");
  EXPECT_EQ(parameter_text(column("SMs"), 128), "128");
  EXPECT_EQ(parameter_text(column(""), 10000), "10000");
  EXPECT_EQ(parameter_text(column(""), 0.125), "0.125");
}

TEST(SweepValues, AMetricHasOneForm) {
  const Measure plain(column("accesses"), 1000, 2e6);
  EXPECT_EQ(plain.text(1467776), "1.47M");
  EXPECT_EQ(plain.text(479840), "480k");
  EXPECT_EQ(plain.text(999999), "1.00M");
  EXPECT_EQ(plain.text(12.5), "12.5");
  EXPECT_EQ(plain.text(-1467776), "-1.47M");
  EXPECT_EQ(plain.text(0), "0");
  EXPECT_EQ(plain.text(std::nan("")), "-");
  const Measure bytes(column("bytes"), 1e5, 13e6);
  EXPECT_EQ(bytes.text(1467776), "1.40 MiB");
  EXPECT_EQ(bytes.text(160608), "157 KiB");
  EXPECT_EQ(bytes.text(512), "512 B");
  const Measure share(column("share"), 0.1, 0.9);
  EXPECT_EQ(share.text(0.2292), "0.229");
  EXPECT_EQ(share.text(1), "1.00");
  const Measure count(column("warps", sweep::ColumnType::Whole), 1, 900);
  EXPECT_EQ(count.text(7), "7");
}

TEST(SweepValues, DigitsTellNeighboursApart) {
  EXPECT_EQ(Measure(column("share"), 0.9, 0.91).text(0.90234), "0.9023");
  EXPECT_EQ(Measure(column("share"), 0.9, 0.9001).text(0.90004), "0.900040");
  EXPECT_EQ(Measure(column("share"), 0.5, 0.5).text(0.5), "0.500");
}

TEST(SweepValues, TicksHaveOneUnit) {
  EXPECT_THAT(labels(pictures::value_ticks(true, 0, 4 * 0x1p20, 5)),
              ElementsAre("0", "1 MiB", "2 MiB", "3 MiB", "4 MiB"));
  EXPECT_THAT(labels(pictures::value_ticks(false, 0, 600000, 4)), ElementsAre("0", "200k", "400k", "600k"));
  EXPECT_THAT(labels(pictures::logarithmic_ticks(true, 0x1p10, 0x1p20, 6)),
              ElementsAre("1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"));
  EXPECT_THAT(labels(pictures::logarithmic_ticks(false, 5, 20000, 6)), ElementsAre("10", "100", "1k", "10k"));
}

TEST(SweepValues, TextsThatAreNumbers) {
  EXPECT_EQ(report::read_number(std::string("300")), 300);
  EXPECT_EQ(report::read_number(std::string("1e3")), 1000);
  EXPECT_EQ(report::read_number(std::int64_t{4}), 4);
  EXPECT_TRUE(std::isnan(report::read_number(std::string("300 cycles"))));
  EXPECT_TRUE(std::isnan(report::read_number(std::string())));
  EXPECT_TRUE(std::isnan(report::read_number(true)));
}

}  // namespace
}  // namespace rayreplay::test
