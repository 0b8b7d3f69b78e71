// Against functions whose indices are known in closed form.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "sim/sweep/analysis/sensitivity.hpp"

namespace rayreplay::test {
namespace {

using sweep::Design;
using sweep::Sensitivity;
using sweep::VariedParameter;
using ::testing::HasSubstr;
using Function = std::function<double(const std::vector<double>&)>;

struct Sampled {
  std::vector<VariedParameter> parameters;
  std::vector<double> values;
};

/// All combinations of `counts` levels; level i of n is (i + 1/2) / n.
Sampled on_grid(const std::vector<std::uint32_t>& counts, const Function& function) {
  Sampled result;
  std::size_t cells = 1;
  for (const std::uint32_t count : counts) {
    result.parameters.push_back({"p" + std::to_string(result.parameters.size()), {}, count});
    cells *= count;
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::vector<double> x;
    std::size_t rest = cell;
    for (VariedParameter& parameter : result.parameters) {
      const auto level = static_cast<std::uint32_t>(rest % parameter.count);
      rest /= parameter.count;
      parameter.levels.push_back(level);
      x.push_back((level + 0.5) / parameter.count);
    }
    result.values.push_back(function(x));
  }
  return result;
}

/// `rows` draws from the unit cube: every value different.
Sampled drawn(std::size_t rows, std::size_t dimensions, const Function& function) {
  Sampled result;
  std::vector<std::vector<double>> x(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      x[row].push_back(static_cast<double>(split_mix(i + 1, row) >> 11U) * 0x1p-53);
    }
    result.values.push_back(function(x[row]));
  }
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::vector<std::uint32_t> order(rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
      order[row] = row;
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return x[a][i] < x[b][i]; });
    VariedParameter parameter{"p" + std::to_string(i), std::vector<std::uint32_t>(rows),
                              static_cast<std::uint32_t>(rows)};
    for (std::uint32_t rank = 0; rank < rows; ++rank) {
      parameter.levels[order[rank]] = rank;
    }
    result.parameters.push_back(std::move(parameter));
  }
  return result;
}

Sensitivity analyse(const Sampled& data, bool sampled = false) {
  return sweep::sensitivity(data.parameters, data.values, sampled);
}

/// y = sin a + 7 sin² b + 0.1 c⁴ sin a on [-π, π]³. Ishigami, Homma (1990).
double ishigami(const std::vector<double>& x) {
  constexpr double kPi = std::numbers::pi;
  const double a = (2 * x[0] - 1) * kPi, b = (2 * x[1] - 1) * kPi, c = (2 * x[2] - 1) * kPi;
  return std::sin(a) + 7 * std::sin(b) * std::sin(b) + 0.1 * std::pow(c, 4) * std::sin(a);
}
// Its closed form: V = 49/8 + π⁴/50 + π⁸/1800 + 1/2, V1 = (1 + π⁴/50)²/2, V2 = 49/8, V13 = 8π⁸/22500.
constexpr double kFirstA = 0.31390, kFirstB = 0.44241, kPairAC = 0.24368;

TEST(Sensitivity, AdditiveIsSharedOutWhole) {
  // Variances of uniform levels: (n² − 1) / 12 · step².
  const Sampled data = on_grid({4, 8, 5}, [](const std::vector<double>& x) { return 3 * x[0] + 2 * x[1] + 0 * x[2]; });
  const Sensitivity result = analyse(data);
  EXPECT_EQ(result.design, Design::FullGrid);
  EXPECT_EQ(result.expected, 160U);
  const double a = 9 * 15.0 / 12 / 16, b = 4 * 63.0 / 12 / 64;
  EXPECT_NEAR(result.parameters[0].first.value(), a / (a + b), 1e-12);
  EXPECT_NEAR(result.parameters[1].first.value(), b / (a + b), 1e-12);
  EXPECT_NEAR(result.parameters[2].first.value(), 0, 1e-12);
  for (const auto& parameter : result.parameters) {
    EXPECT_NEAR(parameter.total.value(), parameter.first.value(), 1e-12);
    EXPECT_EQ(parameter.noise, 0);
  }
  for (const auto& pair : result.pairs) {
    EXPECT_NEAR(pair.share, 0, 1e-12);
  }
}

TEST(Sensitivity, PureInteractionShowsInTotalsAlone) {
  const Sensitivity result = analyse(
      on_grid({2, 3, 2}, [](const std::vector<double>& x) { return (x[0] < 0.5) == (x[2] < 0.5) ? 1.0 : -1.0; }));
  EXPECT_NEAR(result.parameters[0].first.value(), 0, 1e-12);
  EXPECT_NEAR(result.parameters[0].total.value(), 1, 1e-12);
  EXPECT_NEAR(result.parameters[1].total.value(), 0, 1e-12);
  EXPECT_NEAR(result.parameters[2].total.value(), 1, 1e-12);
  EXPECT_EQ(result.pairs.front().a, 0U);
  EXPECT_EQ(result.pairs.front().b, 2U);
  EXPECT_NEAR(result.pairs.front().share, 1, 1e-12);
}

// docs/MODELS.md section 13.
TEST(Sensitivity, ChecksOfTheDefinitions) {
  const Sensitivity sum = analyse(on_grid({7, 7}, [](const std::vector<double>& x) { return x[0] + 2 * x[1]; }));
  const Sensitivity product =
      analyse(on_grid({7, 6}, [](const std::vector<double>& x) { return (x[0] - 0.5) * (x[1] - 0.5); }));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(sum.parameters[i].first.value(), i == 0 ? 0.2 : 0.8, 1e-12);
    EXPECT_NEAR(sum.parameters[i].total.value(), i == 0 ? 0.2 : 0.8, 1e-12);
    EXPECT_NEAR(product.parameters[i].first.value(), 0, 1e-12);
    EXPECT_NEAR(product.parameters[i].total.value(), 1, 1e-12);
  }
  EXPECT_NEAR(product.pairs.front().share, 1, 1e-12);
}

TEST(Sensitivity, IshigamiOnAGrid) {
  // Midpoints integrate the sines exactly, c⁴ to about 1/n².
  const Sensitivity result = analyse(on_grid({32, 32, 64}, ishigami));
  EXPECT_NEAR(result.parameters[0].first.value(), kFirstA, 1e-3);
  EXPECT_NEAR(result.parameters[1].first.value(), kFirstB, 1e-3);
  EXPECT_NEAR(result.parameters[2].first.value(), 0, 1e-9);
  EXPECT_NEAR(result.parameters[0].total.value(), kFirstA + kPairAC, 1e-3);
  EXPECT_NEAR(result.parameters[1].total.value(), kFirstB, 1e-3);
  EXPECT_NEAR(result.parameters[2].total.value(), kPairAC, 1e-3);
  EXPECT_NEAR(result.pairs.front().share, kPairAC, 1e-3);
}

TEST(Sensitivity, IshigamiFromSamples) {
  const Sensitivity result = analyse(drawn(20000, 3, ishigami), true);
  EXPECT_EQ(result.design, Design::Sample);
  EXPECT_NEAR(result.parameters[0].first.value(), kFirstA, 0.015);
  EXPECT_NEAR(result.parameters[1].first.value(), kFirstB, 0.015);
  EXPECT_NEAR(result.parameters[2].first.value(), 0, 0.005);
  for (const auto& parameter : result.parameters) {
    EXPECT_FALSE(parameter.total.has_value());
    EXPECT_LT(parameter.noise, 0.001);
  }
  EXPECT_THAT(result.notes.back(), HasSubstr("not known from this design"));
}

TEST(Sensitivity, BinsPutNothingThereByChance) {
  // Without the correction 200 rows in 12 bins would give each idle parameter 11/199.
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::uint64_t next = 0;
    const Sampled data = drawn(200, 2, [&](const std::vector<double>& /*x*/) {
      return static_cast<double>(split_mix(seed + 100, next++) >> 11U);
    });
    const Sensitivity result = analyse(data, true);
    sum += result.parameters[0].first.value();
    EXPECT_LT(result.parameters[0].first.value(), 6 * result.parameters[0].noise);
  }
  EXPECT_LT(sum / 50, 0.025);  // cut off at 0, so not 0
}

TEST(Sensitivity, AGridWithGapsSaysSo) {
  Sampled data = on_grid({8, 8}, [](const std::vector<double>& x) { return x[0]; });
  data.values[5] = std::nan("");
  const Sensitivity result = analyse(data);
  EXPECT_EQ(result.design, Design::Incomplete);
  EXPECT_EQ(result.rows, 63U);
  EXPECT_THAT(result.notes.front(), HasSubstr("63 of 64"));
  EXPECT_FALSE(result.parameters[0].total.has_value());
}

TEST(Sensitivity, NothingToExplain) {
  const Sensitivity same = analyse(on_grid({4, 4}, [](const std::vector<double>&) { return 0.1; }));
  EXPECT_EQ(same.variance, 0);
  EXPECT_FALSE(same.parameters[0].first.has_value());
  EXPECT_THAT(same.notes.front(), HasSubstr("the same in every configuration"));
  Sampled none = on_grid({2}, [](const std::vector<double>&) { return std::nan(""); });
  EXPECT_THAT(analyse(none).notes.front(), HasSubstr("no configuration has a value"));
  EXPECT_FALSE(
      analyse(drawn(5, 2, [](const std::vector<double>& x) { return x[0]; }), true).parameters[0].first.has_value());
}

}  // namespace
}  // namespace rayreplay::test
