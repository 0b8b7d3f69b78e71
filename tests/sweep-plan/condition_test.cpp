#include <map>
#include <optional>

#include <gmock/gmock.h>

#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::map<std::string, ParameterValue> kValues = {
    {"cache.l1.bytes", std::int64_t{65536}},   {"cache.l1.ways", std::int64_t{4}},  {"machine.sms", std::int64_t{6}},
    {"machine.name", std::string("rtx4090")},  {"stream.coalesce", true},           {"scheduler.steps_per_ray", 2.5},
    {"scheduler.model:pool", std::int64_t{2}}, {"costs.my-shader", std::int64_t{7}}};

bool holds(const std::string& text) {
  return Condition(text, "s.toml:1").holds([](const std::string& key) {
    const auto found = kValues.find(key);
    return found == kValues.end() ? nullptr : &found->second;
  });
}

TEST(Condition, ComparesNumbersTextsAndTruthValues) {
  EXPECT_TRUE(holds("cache.l1.bytes == 65536"));
  EXPECT_TRUE(holds("cache.l1.bytes == 64KiB"));
  EXPECT_FALSE(holds("cache.l1.bytes != 64KiB"));
  EXPECT_TRUE(holds("cache.l1.bytes < 1MiB"));
  EXPECT_TRUE(holds("cache.l1.bytes<=64KiB"));
  EXPECT_FALSE(holds("cache.l1.bytes > 64KiB"));
  EXPECT_TRUE(holds("cache.l1.bytes >= 64KiB"));
  EXPECT_TRUE(holds("scheduler.steps_per_ray == 2.5"));
  EXPECT_TRUE(holds("machine.name == \"rtx4090\""));
  EXPECT_TRUE(holds("machine.name < 'rtx5080'"));
  EXPECT_FALSE(holds("machine.name > 'rtx5080'"));
  EXPECT_TRUE(holds("stream.coalesce == true"));
  EXPECT_TRUE(holds("stream.coalesce"));
  EXPECT_FALSE(holds("!stream.coalesce"));
  EXPECT_TRUE(holds("`costs.my-shader` == 7"));
}

TEST(Condition, OperatorsBindAsInC) {
  EXPECT_TRUE(holds("1 + 2 * 3 == 7"));
  EXPECT_TRUE(holds("(1 + 2) * 3 == 9"));
  EXPECT_TRUE(holds("10 - 4 - 3 == 3"));
  EXPECT_TRUE(holds("24 / 4 / 2 == 3"));
  EXPECT_TRUE(holds("7 % 4 == 3"));
  EXPECT_TRUE(holds("-machine.sms + 7 == 1"));
  EXPECT_TRUE(holds("--1 == 1"));
  EXPECT_TRUE(holds("true || false && false"));
  EXPECT_FALSE(holds("(true || false) && false"));
  EXPECT_TRUE(holds("1 < 2 && 3 >= 3 || 1 == 2"));
  EXPECT_TRUE(holds("!(machine.sms == 5) && machine.sms % 2 == 0"));
  EXPECT_TRUE(holds("cache.l1.bytes / (128 * cache.l1.ways) == 128"));
}

TEST(Condition, WhatIsNotThereMakesTheWholeFalse) {
  EXPECT_FALSE(holds("1 / 0 == 1"));
  EXPECT_FALSE(holds("!(1 % 0 == 1)"));
  EXPECT_FALSE(holds("scheduler.model:other == 1"));
  EXPECT_FALSE(holds("!(scheduler.model:other == 1)"));
  EXPECT_FALSE(holds("scheduler.model:other == 1 || true"));
  // But only where it is needed.
  EXPECT_TRUE(holds("true || scheduler.model:other == 1"));
  EXPECT_FALSE(holds("false && scheduler.model:other == 1"));
  EXPECT_TRUE(holds("scheduler.model:pool == 2"));
}

TEST(Condition, NamesItsKeysOnce) {
  EXPECT_THAT(Condition("machine.sms > 1 && cache.l1.ways < machine.sms", "").keys(),
              ElementsAre("machine.sms", "cache.l1.ways"));
  EXPECT_TRUE(Condition().holds({}));
}

std::string condition_error_of(const std::string& text) {
  return message_of([&] { static_cast<void>(holds(text)); });
}

TEST(Condition, ErrorsShowTheTextAndTheColumn) {
  EXPECT_THAT(condition_error_of("machine.smss > 1"),
              AllOf(HasSubstr("s.toml:1, column 1 of \"machine.smss > 1\""), HasSubstr("'machine.sms'")));
  EXPECT_THAT(condition_error_of("1 < machine.name"), AllOf(HasSubstr("column 3"), HasSubstr("a number and a text")));
  EXPECT_THAT(condition_error_of("machine.sms"),
              AllOf(HasSubstr("does not give a truth value"), HasSubstr("a number")));
  EXPECT_THAT(condition_error_of("machine.sms && true"), HasSubstr("a truth value"));
  EXPECT_THAT(condition_error_of("machine.name + 1 == 2"), HasSubstr("column 1"));
  EXPECT_THAT(condition_error_of("true < false"), HasSubstr("cannot be compared by size"));
  EXPECT_THAT(condition_error_of("!1 == 2"), HasSubstr("a truth value"));
  EXPECT_THAT(condition_error_of("(machine.sms > 1"), AllOf(HasSubstr("not closed"), HasSubstr("column 17")));
  EXPECT_THAT(condition_error_of("machine.name == \"x"), HasSubstr("not closed"));
  EXPECT_THAT(condition_error_of("machine.sms >"), AllOf(HasSubstr("missing"), HasSubstr("the end")));
  EXPECT_THAT(condition_error_of(""), HasSubstr("missing"));
  EXPECT_THAT(condition_error_of("1 < 2 < 3"), HasSubstr("goes on"));
  EXPECT_THAT(condition_error_of("machine.sms = 3"), HasSubstr("goes on"));
  EXPECT_THAT(condition_error_of("machine.sms > 3XB"), HasSubstr("number"));
  EXPECT_THAT(condition_error_of("machine.sms > ."), HasSubstr("number"));
  EXPECT_THAT(condition_error_of("machine.sms:pool > 1"), HasSubstr("does not hold a model"));
  EXPECT_THAT(condition_error_of("scheduler.model:pool == 'x'"), HasSubstr("a number and a text"));
  EXPECT_THAT(condition_error_of(std::string(10000, '(')), HasSubstr("nested"));
  EXPECT_THAT(condition_error_of(std::string(10000, '!') + "true"), HasSubstr("nested"));
}

std::string joined(const std::string& part, const std::string& sign, std::size_t count) {
  std::string text = part;
  for (std::size_t i = 1; i < count; ++i) {
    text += sign + part;
  }
  return text;
}

TEST(Condition, NamesThatAKeyNeverHasAreRefused) {
  const auto message = [](const std::string& text) {
    try {
      static_cast<void>(Condition(text, "s.toml:1"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("packing == \"randm\""),
              AllOf(HasSubstr("s.toml:1, column 12 of "), HasSubstr("the key packing never has this value"),
                    HasSubstr("found \"randm\""), HasSubstr("Fix: did you mean 'random'?")));
  EXPECT_THAT(message("machine.sms > 3 && \"numray\" != packing"), HasSubstr("did you mean 'numrays'?"));
  EXPECT_THAT(message("packing != 'random:seed=2'"), HasSubstr("packing:PARAM"));
  EXPECT_THAT(message("schedule.time == 'memry'"), HasSubstr("'memory'"));
  for (const char* sound : {"packing == 'random'", "schedule.time != 'memory'", "order == 'auto'",
                            "schedule.distribution == 'auto'", "trace == 't.rrt'", "machine.name != 'mine.toml'",
                            "packing < 'z'", "packing:seed == 'x'", "machine.name == 'rtx4090'"}) {
    EXPECT_EQ(message(sound), "") << sound;
  }
}

TEST(Condition, LengthIsLimitedAndTermsBelowItNeedNoStack) {
  EXPECT_THAT(condition_error_of(joined("true", "&&", 100'000)),
              AllOf(HasSubstr("s.toml:1"), HasSubstr("too long"), HasSubstr("at most 65536")));
  EXPECT_TRUE(holds(joined("true", "&&", 10'000)));
  EXPECT_FALSE(holds(joined("false", "||", 9'000)));
  EXPECT_TRUE(holds(joined("1", "+", 30'000) + " == 30000"));
  EXPECT_TRUE(holds(joined("1", "*", 20'000) + " == 1 && " + joined("(1)", "-", 5'000) + " == -4998"));
  EXPECT_FALSE(holds("1/0" + joined("", "/1", 20'000) + " == 1"));
}

/// A message shows the text around the place, not tens of kilobytes.
TEST(Condition, ErrorsInLongTextsShowTheirSurroundings) {
  const std::string error = condition_error_of(joined("true", " && ", 5'000) + " && machine.smss > 1");
  EXPECT_THAT(error, AllOf(HasSubstr("column 40001 of \"…"), HasSubstr("'machine.smss'")));
  EXPECT_LT(error.size(), 1000U);
}

/// Sides that are not needed are skipped in every nesting.
TEST(Condition, AndAndOrStopWhereTheLeftSideDecides) {
  const std::string missing = "scheduler.model:other == 1";
  EXPECT_TRUE(holds("true || (" + missing + " && " + missing + ")"));
  EXPECT_FALSE(holds("(true || " + missing + ") && false"));
  EXPECT_TRUE(holds("(false && " + missing + ") || true"));
  EXPECT_TRUE(holds("!(false && " + missing + " || false) && (true || " + missing + ")"));
  EXPECT_FALSE(holds("(false || " + missing + ") || true"));
}

}  // namespace
}  // namespace rayreplay::sweep::testing
