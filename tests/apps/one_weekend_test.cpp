// one_weekend on lavapipe: the same bytes from run to run and from variant to variant of the same paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/apps/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using Arguments = std::vector<std::string>;

Arguments small(const Arguments& more = {}) {
  Arguments arguments{"--size", "24x13", "--spp", "2", "--depth", "6"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// A random permutation as the programs read it.
std::string swizzle_bytes(std::uint32_t threads) {
  std::vector<std::uint32_t> order(threads);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::string bytes;
  for (const std::uint32_t value : order) {
    for (unsigned i = 0; i < 4; ++i) {
      bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
    }
  }
  return bytes;
}

TEST(OneWeekend, SameBytesFromRunToRun) {
  const Pixels first = render(kOneWeekend, small());
  EXPECT_EQ(first, render(kOneWeekend, small()));
  EXPECT_NE(first, render(kOneWeekend, small({"--seed", "2"})));
  EXPECT_NE(first, render(kOneWeekend, small({"--scene-seed", "2"})));
}

/// What changes how the device gets there, but no path.
TEST(OneWeekend, VariantsRenderTheSamePicture) {
  const Pixels plain = render(kOneWeekend, small());
  const TemporaryFolder folder;
  const std::string swizzle = folder.write("swizzle.bin", swizzle_bytes(24 * 13));
  const std::vector<Arguments> variants{
      {"--any-hit"},          {"--opaque", "no"},
      {"--opaque", "yes"},    {"--hit-groups", "per-material"},
      {"--recursion"},        {"--recursion", "--hit-groups", "per-material", "--any-hit"},
      {"--frames", "3"},      {"--warm-up", "2"},
      {"--hit-work", "100"},  {"--recursion", "--hit-work", "7"},
      {"--swizzle", swizzle}, {"--swizzle", swizzle, "--recursion"}};
  for (const Arguments& variant : variants) {
    EXPECT_EQ(plain, render(kOneWeekend, small(variant))) << testing::PrintToString(variant);
  }
}

TEST(OneWeekend, LaunchesOfAFrameAddSamples) {
  const Pixels one = render(kOneWeekend, {"--size", "24x13", "--spp", "4"});
  const Pixels four = render(kOneWeekend, {"--size", "24x13", "--spp", "4", "--launches-per-frame", "4"});
  const Pixels many = render(kOneWeekend, {"--size", "24x13", "--spp", "256", "--seed", "9"});
  // Four times the samples: half the noise.
  EXPECT_LT(mean_difference(four, many), 0.7 * mean_difference(one, many));
  EXPECT_EQ(four, render(kOneWeekend, {"--size", "24x13", "--spp", "4", "--launches-per-frame", "4", "--frames", "2"}));
}

TEST(OneWeekend, TimesEveryLaunch) {
  const Outcome outcome = run_program(kOneWeekend, {"--device", "llvmpipe", "--size", "9x7", "--spp", "1", "--time",
                                                    "--frames", "2", "--launches-per-frame", "2", "--warm-up", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::regex line(R"(frame ([01]) launch ([01]): ([0-9]+\.[0-9]{3}) ms\n)");
  const auto lines = std::distance(std::sregex_iterator(outcome.output.begin(), outcome.output.end(), line), {});
  EXPECT_EQ(lines, 4) << outcome.output;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 4);
}

class OneWeekendSize : public testing::TestWithParam<std::string> {};

TEST_P(OneWeekendSize, RendersEveryPixel) {
  const std::string& size = GetParam();
  // One trace call: spheres absorb, and what is not black is sky. The upper row of any such picture is sky alone.
  const Pixels picture = render(kOneWeekend, {"--size", size, "--spp", "1", "--depth", "1"});
  EXPECT_EQ(std::to_string(picture.width) + "x" + std::to_string(picture.height), size);
  const Pixels deep = render(kOneWeekend, {"--size", size, "--spp", "4", "--depth", "12"});
  EXPECT_EQ(picture.rgb.size(), deep.rgb.size());
  for (std::size_t i = 0; i < deep.rgb.size(); i += 3) {
    EXPECT_GT(deep.rgb[i] + deep.rgb[i + 1] + deep.rgb[i + 2], 0) << "pixel " << i / 3;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, OneWeekendSize, testing::Values("1x1", "17x9", "1x31", "33x2"),
                         [](const auto& test) { return "Size" + test.param; });

}  // namespace
}  // namespace rayreplay::test
