// The formula language: what each operator and function gives, what binds how, and what every error says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "scheduler-models/regrouping/hints/expression.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::scheduler::formula {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::map<Field, double>;

double value_of(const std::string& text, const Values& values = {}) {
  return evaluate_tree(parse_expression(text, "hint 'test'"), [&](Field field) { return values.at(field); }).value;
}

ErrorInfo error_of(const std::string& text) {
  return test::error_of(ErrorKind::Usage, [&] { static_cast<void>(parse_expression(text, "hint 'test'")); });
}

TEST(Formula, NumbersAreReadInEveryForm) {
  EXPECT_EQ(value_of("12"), 12);
  EXPECT_EQ(value_of(" 0.5\t"), 0.5);
  EXPECT_EQ(value_of(".25"), 0.25);
  EXPECT_EQ(value_of("1e3"), 1000);
  EXPECT_EQ(value_of("1.5e-2"), 0.015);
  EXPECT_EQ(value_of("0x1F"), 31);
  EXPECT_EQ(value_of("0x20000000000000"), kTwo53);
}

TEST(Formula, ArithmeticIsThatOfDoubles) {
  EXPECT_EQ(value_of("1 + 2 * 3 - 4 / 8"), 6.5);
  EXPECT_EQ(value_of("7 - 2 - 1"), 4);  // from the left
  EXPECT_EQ(value_of("16 / 4 / 2"), 2);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("- - 2"), 2);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("1 / 0"), kInfinity);
  EXPECT_TRUE(std::isnan(value_of("0 / 0")));
}

TEST(Formula, RemainderLiesInTheRangeOfItsDivisor) {
  EXPECT_EQ(value_of("17 % 16"), 1);
  EXPECT_EQ(value_of("-1 % 16"), 15);
  EXPECT_EQ(value_of("17 % -16"), -15);
  EXPECT_EQ(value_of("5.5 % 2"), 1.5);
  EXPECT_EQ(value_of("-0.5 % 2"), 1.5);
  EXPECT_EQ(value_of("1e300 % 7"), std::fmod(1e300, 7.0));
  EXPECT_TRUE(std::isnan(value_of("1 % 0")));
  EXPECT_TRUE(std::isnan(value_of("(1 / 0) % 3")));
  EXPECT_LT(value_of("-1e-30 % 16"), 16);  // rounding does not reach the divisor
  EXPECT_GT(value_of("-1e-30 % 16"), 15.99);
}

TEST(Formula, BitsAreThoseOfTruncatedNumbers) {
  EXPECT_EQ(value_of("6 & 3"), 2);
  EXPECT_EQ(value_of("6 | 3"), 7);
  EXPECT_EQ(value_of("6 ^ 3"), 5);
  EXPECT_EQ(value_of("6.9 & 3.9"), 2);
  EXPECT_EQ(value_of("-0.5 | 1"), 1);
  EXPECT_EQ(value_of("3 << 4"), 48);
  EXPECT_EQ(value_of("1 << 52"), 4503599627370496.0);
  EXPECT_EQ(value_of("0 << 63"), 0);
  EXPECT_EQ(value_of("48 >> 4"), 3);
  EXPECT_EQ(value_of("1 >> 63"), 0);
  EXPECT_EQ(value_of("bits(0xABCD, 11, 4)"), 0xBC);
  EXPECT_EQ(value_of("bits(5, 0, 0)"), 1);
  EXPECT_EQ(value_of("bits(0x1FFFFFFFFFFFFF, 52, 0)"), kTwo53 - 1);
  for (const char* const text : {"-1 & 1", "1 | 9007199254740992", "1 << 53", "1 << 64", "1 << -1", "1 >> 64",
                                 "-3 >> 1", "bits(1, 53, 0)", "bits(1, 2, 3)", "bits(-1, 3, 0)", "bits(1, 2, -1)"}) {
    EXPECT_TRUE(std::isnan(value_of(text))) << text;
  }
}

TEST(Formula, ComparisonsAndLogicGiveZeroOrOne) {
  EXPECT_EQ(value_of("1 < 2"), 1);
  EXPECT_EQ(value_of("2 <= 1"), 0);
  EXPECT_EQ(value_of("2 > 1"), 1);
  EXPECT_EQ(value_of("2 >= 2"), 1);
  EXPECT_EQ(value_of("2 == 2"), 1);
  EXPECT_EQ(value_of("2 != 2"), 0);
  EXPECT_EQ(value_of("!3"), 0);
  EXPECT_EQ(value_of("!0"), 1);
  EXPECT_EQ(value_of("2 && 3"), 1);
  EXPECT_EQ(value_of("0 || 0"), 0);
  EXPECT_EQ(value_of("1 || 0 && 0"), 1);
  for (const char* const text : {"0/0 < 1", "0/0 == 0/0", "0/0 != 1", "!(0/0)", "0/0 || 1", "0 && 0/0", "if(0/0, 1, 2)",
                                 "min(0/0, 1)", "max(1, 0/0)", "hash(0/0)", "hash(1, 0/0)"}) {
    EXPECT_TRUE(std::isnan(value_of(text))) << text;
  }
}

TEST(Formula, FunctionsAreExact) {
  EXPECT_EQ(value_of("if(2 > 1, 10, 20)"), 10);
  EXPECT_EQ(value_of("if(0, 10, 20)"), 20);
  EXPECT_EQ(value_of("if(1, 7, 0/0)"), 7);  // what is not chosen does no harm
  EXPECT_EQ(value_of("min(3, -4)"), -4);
  EXPECT_EQ(value_of("max(3, -4)"), 3);
  EXPECT_EQ(value_of("abs(-2.5)"), 2.5);
  EXPECT_EQ(value_of("floor(-2.5)"), -3);
  EXPECT_EQ(value_of("sqrt(2)"), std::sqrt(2.0));
  EXPECT_TRUE(std::isnan(value_of("sqrt(-1)")));
  EXPECT_EQ(value_of("clamp(7, 0, 5)"), 5);
  EXPECT_EQ(value_of("clamp(-7, 0, 5)"), 0);
  EXPECT_TRUE(std::isnan(value_of("clamp(1, 5, 0)")));
  EXPECT_EQ(value_of("log2(1)"), 0);
  EXPECT_EQ(value_of("log2(1023)"), 9);
  EXPECT_EQ(value_of("log2(1024)"), 10);
  EXPECT_EQ(value_of("log2(0.3)"), -2);
  EXPECT_EQ(value_of("log2(5e-324)"), -1074);
  EXPECT_TRUE(std::isnan(value_of("log2(0)")));
  EXPECT_TRUE(std::isnan(value_of("log2(-1)")));
}

TEST(Formula, HashesAreTheSameEverywhere) {
  // Computed apart from this program, with arbitrary-precision integers (SplitMix64's finish, upper 32 bits).
  EXPECT_EQ(value_of("hash(0)"), 3793791033.0);
  EXPECT_EQ(value_of("hash(-0)"), value_of("hash(0)"));
  EXPECT_EQ(value_of("hash(1)"), 2295841627.0);
  EXPECT_EQ(value_of("hash(1, 2)"), 3190804766.0);
  EXPECT_NE(value_of("hash(1, 2)"), value_of("hash(2, 1)"));
  EXPECT_EQ(value_of("hash(1, 2, 3, 4) < 4294967296"), 1);
}

TEST(Formula, BindsAsDocumented) {
  EXPECT_EQ(value_of("1 | 2 == 3"), 1);      // (1 | 2) == 3
  EXPECT_EQ(value_of("1 + 1 << 2"), 8);      // (1 + 1) << 2
  EXPECT_EQ(value_of("7 & 3 ^ 1 | 8"), 10);  // ((7 & 3) ^ 1) | 8
  EXPECT_EQ(value_of("4 & 2 << 1"), 4);      // 4 & (2 << 1)
  EXPECT_EQ(value_of("-3 % 4"), 1);          // (-3) % 4
  EXPECT_EQ(value_of("!0 + 1"), 2);          // (!0) + 1
  EXPECT_EQ(value_of("0 && 1 || 1"), 1);
  EXPECT_EQ(value_of("1 == 1 && 2 == 2"), 1);
}

TEST(Formula, KnowsEveryField) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Expression expression = parse_expression(kFields[i].name, "hint 'test'");
    EXPECT_TRUE(expression.fields[i]);
    EXPECT_EQ(expression.fields.count(), 1U);
    EXPECT_EQ(value_of(std::string(kFields[i].name) + " + 1", {{static_cast<Field>(i), 41.0}}), 42);
  }
}

TEST(Formula, ErrorsShowTheFormulaAndPointAtTheColumn) {
  const ErrorInfo error = error_of("materiel % 16");
  EXPECT_EQ(error.what, "unknown field");
  EXPECT_EQ(error.where, "hint 'test', column 1:\n  materiel % 16\n  ^");
  EXPECT_EQ(error.found, "'materiel'");
  EXPECT_NE(error.expected.find("material"), std::string::npos);
  EXPECT_EQ(error.fix, "did you mean 'material'?");
  EXPECT_EQ(error_of("1 + é").where, "hint 'test', column 5:\n  1 + é\n      ^");
}

struct Wrong {
  const char* text;
  std::size_t column;  ///< from 1
  const char* what;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.text;
}

class WrongFormula : public testing::TestWithParam<Wrong> {};

TEST_P(WrongFormula, IsRefusedWhereItIsWrong) {
  const ErrorInfo error = error_of(GetParam().text);
  EXPECT_NE(error.where.find("column " + std::to_string(GetParam().column) + ":"), std::string::npos) << error.where;
  EXPECT_NE(error.what.find(GetParam().what), std::string::npos) << error.what;
  EXPECT_FALSE(error.expected.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongFormula,
    testing::Values(Wrong{"", 1, "ends too early"}, Wrong{"1 +", 4, "ends too early"}, Wrong{"(1", 3, "not closed"},
                    Wrong{"(1 2)", 4, "close or the formula go on"}, Wrong{"1)", 2, "after the end"},
                    Wrong{"1 2", 3, "after the end"}, Wrong{"* 2", 1, "a value is missing"},
                    Wrong{"min(1)", 6, "too few"}, Wrong{"min(1, 2, 3)", 11, "too many"}, Wrong{"hash()", 6, "too few"},
                    Wrong{"hash(1, 2, 3, 4, 5)", 18, "too many"}, Wrong{"min", 1, "without its arguments"},
                    Wrong{"material(2)", 1, "field is no function"}, Wrong{"lgo2(4)", 1, "unknown function"},
                    Wrong{"1 < 2 < 3", 7, "do not chain"}, Wrong{"1 = 2", 3, "unknown character"},
                    Wrong{"~1", 1, "unknown character"}, Wrong{"1 $ 2", 3, "unknown character"},
                    Wrong{"1x", 1, "malformed"}, Wrong{"1.2.3", 1, "malformed"}, Wrong{"0x", 1, "malformed"},
                    Wrong{"1e999", 1, "too large"}, Wrong{"0x20000000000001", 1, "too large"},
                    Wrong{"0xFFFFFFFFFFFFFFFFFF", 1, "too large"}, Wrong{"min(1,)", 7, "a value is missing"},
                    Wrong{"if(1, 2)", 8, "too few"}));

TEST(Formula, SuggestsWhatWasMeant) {
  EXPECT_EQ(error_of("lgo2(4)").fix, "did you mean 'log2'?");
  EXPECT_NE(error_of("1 = 2").fix.find("=="), std::string::npos);
  EXPECT_NE(error_of("miss ? 1 : 0").fix.find("if("), std::string::npos);
}

TEST(Formula, IsBoundedInLengthAndDepth) {
  EXPECT_NE(error_of(std::string(kMaxCharacters + 1, '1')).what.find("too long"), std::string::npos);
  EXPECT_NE(error_of(std::string(1000, '(') + "1" + std::string(1000, ')')).what.find("too deeply"), std::string::npos);
  EXPECT_NE(error_of(std::string(1000, '-') + "1").what.find("too deeply"), std::string::npos);
  EXPECT_EQ(value_of(std::string(60, '(') + "1" + std::string(60, ')')), 1);
  std::string sum = "1";
  while (sum.size() + 2 <= kMaxCharacters) {
    sum += "+1";
  }
  EXPECT_EQ(value_of(sum), static_cast<double>(sum.size() / 2 + 1));
}

TEST(Formula, SaysWhichPartGaveNoNumber) {
  const auto culprit = [](const std::string& text) {
    const Expression expression = parse_expression(text, "hint 'test'");
    const TreeValue value = evaluate_tree(expression, [](Field) { return 0.0; });
    return value.culprit == kNoNode ? std::string("none") : name_of(expression.nodes[value.culprit]);
  };
  EXPECT_EQ(culprit("1 + log2(distance) * 2"), "log2");
  EXPECT_EQ(culprit("floor(1 / miss)"), "/");
  EXPECT_EQ(culprit("if(miss, log2(distance), 3)"), "none");
  EXPECT_EQ(culprit("min(1 / miss, 5)"), "none");
  EXPECT_EQ(culprit("1 << 60"), "<<");
}

}  // namespace
}  // namespace rayreplay::scheduler::formula
