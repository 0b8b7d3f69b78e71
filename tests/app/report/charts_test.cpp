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

TEST(Chart, LabelsOfPointsLieOnNothingOrAreLeftOut) {
  pictures::Plot plot;
  pictures::PlotSeries points{.name = "a"};
  points.line = false;
  for (int i = 0; i < 40; ++i) {
    points.points.push_back({static_cast<double>(i % 2), 1});
    points.labels.push_back("<label " + std::to_string(i) + ">");
  }
  plot.series = {points};
  fit_axes(plot, {.margin = 0.1});
  const std::string svg = report::svg_figure(plot);
  EXPECT_THAT(svg, HasSubstr("&lt;label 0&gt;"));
  EXPECT_THAT(svg, HasSubstr("&lt;label 1&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("&lt;label 39&gt;"))) << "there is no room for so many";
  // No two have one place.
  std::set<std::string> places;
  std::size_t labels = 0;
  for (std::size_t at = svg.find("&lt;label"); at != std::string::npos; at = svg.find("&lt;label", at + 1)) {
    places.insert(svg.substr(svg.rfind("<text", at), svg.rfind('>', at) - svg.rfind("<text", at)));
    ++labels;
  }
  EXPECT_EQ(places.size(), labels);
  EXPECT_GE(labels, 4U);
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
