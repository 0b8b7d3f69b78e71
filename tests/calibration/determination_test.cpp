// Standard errors and keys that the data do not determine, against small cases solved by hand.
#include "sim/calibration/determination.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rayreplay::calibration {
namespace {

using Eigen::MatrixXd;

// J = [1 0; 1 0; 0 2]: JᵀJ = diag(2, 4).
TEST(Determination, OrthogonalColumns) {
  MatrixXd jacobian(3, 2);
  jacobian << 1, 0, 1, 0, 0, 2;
  const Determination found = determine(jacobian, 0.09, {false, false});
  EXPECT_DOUBLE_EQ(found.variables[0].sensitivity, std::sqrt(2.0 / 3));
  EXPECT_NEAR(*found.variables[0].reaction, std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(*found.variables[1].reaction, 0.5, 1e-12);
  EXPECT_NEAR(*found.variables[1].standard_error, 0.5 * 0.3, 1e-12);  // 3 rows - 2 variables
  EXPECT_NEAR(*found.condition, 1, 1e-12);
  EXPECT_EQ(found.variables[0].known, Known::Determined);
  EXPECT_TRUE(found.partners.empty());
}

// J = [1 1; 1 2]: (JᵀJ)⁻¹ = [5 -3; -3 2].
TEST(Determination, CorrelatedColumns) {
  MatrixXd jacobian(2, 2);
  jacobian << 1, 1, 1, 2;
  const Determination found = determine(jacobian, 0, {false, false});
  EXPECT_NEAR(*found.variables[0].reaction, std::sqrt(5), 1e-9);
  EXPECT_NEAR(*found.variables[1].reaction, std::sqrt(2), 1e-9);
  EXPECT_FALSE(found.variables[0].standard_error);  // no rows to spare
  // Columns of length 1 have the cosine 3 / sqrt(10): the squares of their singular values are 1 ± that.
  const double cosine = 3 / std::sqrt(10.0);
  EXPECT_NEAR(*found.condition, std::sqrt((1 + cosine) / (1 - cosine)), 1e-9);
}

TEST(Determination, KeysThatActAlikeAreNamedTogether) {
  MatrixXd jacobian(4, 3);
  jacobian << -1, 0.5, 1, -1, 0.1, 1, -1, 0.9, 1, -1, 0.2, 1.0001;
  const Determination found = determine(jacobian, 1, {false, false, false});
  EXPECT_EQ(found.partners, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(found.variables[0].known, Known::Undetermined);
  EXPECT_EQ(found.variables[1].known, Known::Determined);
  EXPECT_EQ(found.variables[2].known, Known::Undetermined);
  EXPECT_GT(*found.condition, 1e3);
  jacobian.col(2) = -jacobian.col(0);
  EXPECT_TRUE(std::isinf(*determine(jacobian, 1, {false, false, false}).condition));
}

TEST(Determination, HeldAndIdleKeysHaveNoError) {
  MatrixXd jacobian = MatrixXd::Zero(3, 3);
  jacobian.col(0).setConstant(1);
  jacobian(1, 2) = 1;
  const Determination found = determine(jacobian, 1, {true, false, false});
  EXPECT_EQ(found.variables[0].known, Known::Held);
  EXPECT_EQ(found.variables[1].known, Known::Idle);
  EXPECT_EQ(found.variables[2].known, Known::Determined);
  EXPECT_FALSE(found.variables[0].reaction);
  EXPECT_FALSE(found.variables[1].standard_error);
  EXPECT_NEAR(*found.variables[2].reaction, 1, 1e-12);
  EXPECT_FALSE(determine(MatrixXd::Zero(2, 1), 1, {false}).condition);
}

TEST(Determination, ASmallInfluenceIsNotEnough) {
  MatrixXd jacobian(1, 1);
  jacobian << 0.019;  // 1 / 0.019 > 50
  const Determination found = determine(jacobian, 0, {false});
  EXPECT_EQ(found.variables[0].known, Known::Undetermined);
  EXPECT_TRUE(found.partners.empty());
}

}  // namespace
}  // namespace rayreplay::calibration
