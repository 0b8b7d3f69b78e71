// Charts as SVG and as images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "app/report/charts/svg.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Chart, PointsThatAreNoneAreLeftOut) {
  pictures::Plot plot;
  plot.x.logarithmic = true;
  plot.series = {{.name = "a", .points = {{-1, 1}, {0, 1}, {1, 1}, {10, 2}, {100, NAN}}, .dots = false}};
  fit_axes(plot);
  const std::string svg = report::svg_figure(plot);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, testing::ContainsRegex("points=\"[0-9.]+,[0-9.]+ [0-9.]+,[0-9.]+\""));
  EXPECT_THAT(report::svg_figure(pictures::Plot{}), Not(HasSubstr("nan")));
  EXPECT_THAT(report::svg_figure(pictures::BarPlot{}), Not(HasSubstr("nan")));
  EXPECT_THAT(report::svg_figure(pictures::BarPlot{.stacked = true}), Not(HasSubstr("nan")));
}

TEST(Chart, BarsBandsAndRingsAreDrawnInBothForms) {
  pictures::Plot plot{.title = "t", .rule = 1};
  plot.series = {{.name = "a", .points = {{0, 1}, {1, 2}}, .dots = false, .spread = {0.5, 0.5}, .ring = {{1, 2}}}};
  fit_axes(plot);
  const pictures::BarPlot bars{.categories = {"one", "two"}, .series = {{"b", 2, {1, 0}}, {"c", 3, {1, 2}}}};
  pictures::BarPlot stack = bars;
  stack.stacked = true;
  const std::string svg = report::svg_figure(plot);
  for (const char* part : {"<polygon class=\"c0\"", "class=\"rule\"", "a: 1</title>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  EXPECT_THAT(report::svg_file(bars), HasSubstr("<title>two, c: 2</title>"));
  EXPECT_THAT(report::svg_file(stack), HasSubstr("<title>one, b: 1</title>"));
  for (const pictures::Chart& chart : {pictures::Chart(plot), pictures::Chart(bars), pictures::Chart(stack)}) {
    const pictures::Image image = render(chart);
    EXPECT_GT(std::set<std::uint8_t>(image.bytes().begin(), image.bytes().end()).size(), 8U);
  }
}

}  // namespace
}  // namespace rayreplay::test
