// Are the pictures what their values say, pixel by pixel?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include <stb/stb_image.h>

#include "app/report/charts/axis.hpp"
#include "app/report/charts/colormap.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/charts/image.hpp"
#include "app/report/charts/plot.hpp"
#include "app/report/charts/text.hpp"
#include "base/error.hpp"

namespace rayreplay::pictures {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Colormap, EndsAndMiddleAreThoseOfThePublishedTables) {
  EXPECT_EQ(color_at(Colormap::Viridis, 0), (Rgb{0x44, 0x01, 0x54}));
  EXPECT_EQ(color_at(Colormap::Viridis, 1), (Rgb{0xFD, 0xE7, 0x25}));
  EXPECT_EQ(color_at(Colormap::Plasma, 0), (Rgb{0x0D, 0x08, 0x87}));
  EXPECT_EQ(color_at(Colormap::Plasma, 1), (Rgb{0xF0, 0xF9, 0x21}));
}

TEST(Colormap, OutsideTheRangeTakesTheEndsAndNoNumberIsGrey) {
  EXPECT_EQ(color_at(Colormap::Viridis, -5), color_at(Colormap::Viridis, 0));
  EXPECT_EQ(color_at(Colormap::Viridis, 5), color_at(Colormap::Viridis, 1));
  EXPECT_EQ(color_at(Colormap::Plasma, std::nan("")), kNoDataColor);
  EXPECT_EQ(color_at(Colormap::Plasma, INFINITY), kNoDataColor);
  EXPECT_EQ(color_at(Colormap::BlueRed, -1), (Rgb{0x05, 0x30, 0x61}));
  EXPECT_EQ(color_at(Colormap::BlueRed, 0.5), (Rgb{0xF7, 0xF7, 0xF7}));
  EXPECT_EQ(color_at(Colormap::BlueRed, 0.55), (Rgb{0xFA, 0xE9, 0xDF})) << "half way to the next colour";
  EXPECT_EQ(color_at(Colormap::BlueRed, 1), (Rgb{0x67, 0x00, 0x1F}));
  EXPECT_EQ(color_at(Colormap::BlueRed, std::nan("")), kNoDataColor);
}

TEST(Colormap, LuminanceGrowsAllTheWay) {
  for (const Colormap map : {Colormap::Viridis, Colormap::Plasma}) {
    double last = -1;
    for (std::size_t i = 0; i < kColormapEntries; i += 8) {
      const Rgb color = color_at(map, static_cast<double>(i) / static_cast<double>(kColormapEntries - 1));
      const double luminance = 0.2126 * std::pow(color.r / 255.0, 2.2) + 0.7152 * std::pow(color.g / 255.0, 2.2) +
                               0.0722 * std::pow(color.b / 255.0, 2.2);
      EXPECT_GT(luminance, last) << "entry " << i;
      last = luminance;
    }
  }
}

TEST(Colormap, UnknownNameSuggestsTheNearest) {
  try {
    static_cast<void>(parse_colormap("virdis"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("'viridis'"));
  }
}

TEST(Image, RectanglesAreClippedAtTheBorders) {
  Image image(4, 3, {1, 2, 3});
  image.fill_rectangle(-2, 1, 4, 100, {9, 9, 9});
  EXPECT_EQ(image.at(0, 0), (Rgb{1, 2, 3}));
  EXPECT_EQ(image.at(1, 2), (Rgb{9, 9, 9}));
  EXPECT_EQ(image.at(2, 2), (Rgb{1, 2, 3}));
}

TEST(Image, PngDecodesToTheSamePixels) {
  Image image(7, 5);
  for (std::uint32_t y = 0; y < 5; ++y) {
    for (std::uint32_t x = 0; x < 7; ++x) {
      image.set(x, y, {static_cast<std::uint8_t>(x * 30), static_cast<std::uint8_t>(y * 50), 17});
    }
  }
  const std::string png = encode_png(image);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()), static_cast<int>(png.size()), &width, &height,
                            &channels, 3),
      stbi_image_free);
  ASSERT_NE(pixels, nullptr);
  ASSERT_EQ(width, 7);
  ASSERT_EQ(height, 5);
  EXPECT_TRUE(std::equal(image.bytes().begin(), image.bytes().end(), pixels.get()));
}

TEST(Text, DrawsInsideItsWidthAndLine) {
  const std::string text = "SIMT efficiency (%) gjpqy";
  const std::uint32_t width = text_width(text, 2);
  Image image(width + 40, kLineHeight * 2 + 40);
  draw_text(image, 20, 20, text, 2, {255, 255, 255});
  std::uint32_t drawn = 0;
  for (std::uint32_t y = 0; y < image.height(); ++y) {
    for (std::uint32_t x = 0; x < image.width(); ++x) {
      if (image.at(x, y) == Rgb{255, 255, 255}) {
        ++drawn;
        EXPECT_TRUE(x >= 20 && x < 20 + width && y >= 20 && y < 20 + kLineHeight * 2) << x << ", " << y;
      }
    }
  }
  EXPECT_GT(drawn, 500U);
}

TEST(Text, OtherCharactersAreDrawnAsQuestionMarks) {
  EXPECT_EQ(text_width("a\xC3\xA9", 1), text_width("a??", 1));
}

TEST(HeatMap, EveryValueIsABlockOfItsColour) {
  const std::vector<float> values = {0, 25, 50, 75, 100, kNaN};
  HeatMap map;
  map.width = 3;
  map.height = 2;
  map.values = values;
  map.title = "title";
  map.unit = "unit";
  map.high = 100;
  const Area area = map_area(map);
  const Image image = render(map);
  ASSERT_GT(area.scale, 1U);
  for (std::uint32_t y = 0; y < 2 * area.scale; ++y) {
    for (std::uint32_t x = 0; x < 3 * area.scale; ++x) {
      const auto value = static_cast<double>(values[(y / area.scale) * 3 + x / area.scale]);
      ASSERT_EQ(image.at(area.x + x, area.y + y), color_at(Colormap::Viridis, value / 100)) << x << ", " << y;
    }
  }
}

TEST(HeatMap, LargeMapsAreNotReducedAndTheBarRunsThroughTheWholeMap) {
  const std::vector<float> values(2000 * 3, 1.0F);
  HeatMap map;
  map.width = 2000;
  map.height = 3;
  map.values = values;
  map.colormap = Colormap::Plasma;
  const Area area = map_area(map);
  EXPECT_EQ(area.scale, 1U);
  const Image image = render(map);
  const std::uint32_t bar_y = area.y + 3 + 25;
  EXPECT_EQ(image.at(area.x, bar_y), color_at(Colormap::Plasma, 0));
  EXPECT_EQ(image.at(area.x + 1999, bar_y), color_at(Colormap::Plasma, 1));
}

TEST(HeatMap, ALongTitleWidensThePicture) {
  const std::vector<float> values(1, 1.0F);
  HeatMap map;
  map.width = 1;
  map.height = 1;
  map.values = values;
  map.title = std::string(300, 'm');
  EXPECT_GE(render(map).width(), text_width(map.title, 2));
}

TEST(HeatMap, SizeAndValuesMustAgree) {
  const std::vector<float> values(3, 1.0F);
  HeatMap map;
  map.width = 2;
  map.height = 2;
  map.values = values;
  EXPECT_THROW(static_cast<void>(render(map)), Error);
}

TEST(Ticks, AreRoundInsideTheRangeAndFewEnough) {
  EXPECT_THAT(ticks(0, 100, 6), testing::ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(ticks(0, 1, 6),
              testing::Pointwise(testing::DoubleNear(1e-12), std::vector<double>{0, 0.2, 0.4, 0.6, 0.8, 1}));
  EXPECT_THAT(ticks(0, 7, 4), testing::ElementsAre(0, 2.5, 5));
  EXPECT_THAT(ticks(3, 3, 6), testing::ElementsAre(3));
  for (const double high : {1.0, 3.0, 17.0, 99.5, 28799.0, 4e9}) {
    for (const std::size_t most : {2U, 5U, 9U}) {
      const std::vector<double> marks = ticks(0, high, most);
      EXPECT_GE(marks.size(), 2U);
      EXPECT_LE(marks.size(), most);
      EXPECT_LE(marks.back(), high * (1 + 1e-9));
    }
  }
}

TEST(Ticks, LabelsShowTheStepAndNoMore) {
  EXPECT_EQ(tick_label(0, 20), "0");
  EXPECT_EQ(tick_label(20, 20), "20");
  EXPECT_EQ(tick_label(0.4, 0.2), "0.4");
  EXPECT_EQ(tick_label(2.5, 2.5), "2.5");
  EXPECT_EQ(tick_label(0.25, 0.25), "0.25");
  EXPECT_EQ(tick_label(5000, 5000), "5000");
  EXPECT_EQ(tick_label(20000, 5000), "20k");
  EXPECT_EQ(tick_label(12500, 2500), "12.5k");
  EXPECT_EQ(tick_label(1.5e6, 5e5), "1.5M");
}

TEST(Plot, NamesWithoutRoomStandUprightAndNumbersAreLeftOut) {
  GridPlot plot;
  for (int i = 0; i < 12; ++i) {
    plot.x_labels.push_back("a-rather-long-name-" + std::to_string(i));
    plot.values.push_back(i);
  }
  plot.y_labels = {"one"};
  plot.high = 11;
  const ImageCanvas measure(1, 1);
  const PlotSize lying = size_of(plot, measure, true);
  plot.x_names = true;
  const PlotSize upright = size_of(plot, measure, true);
  EXPECT_GT(upright.height, lying.height + 80);
  EXPECT_EQ(upright.width, lying.width);
  EXPECT_EQ(render(plot).height(), static_cast<std::uint32_t>(upright.height * 2));
  plot.x_labels.assign(12, "x");
  EXPECT_EQ(size_of(plot, measure, true).height, lying.height);
}

TEST(Plot, AMapHasRoomForItsNames) {
  GridPlot plot;
  plot.x_labels = plot.y_labels = {"1"};
  plot.values = {1};
  const ImageCanvas measure(1, 1);
  const double low = size_of(plot, measure, false).height;
  plot.unit = std::string(60, 'm');
  EXPECT_GT(size_of(plot, measure, false).height, low + 100);
  EXPECT_GE(size_of(plot, measure, false).height, measure.text_width(plot.unit));
}

}  // namespace
}  // namespace rayreplay::pictures
