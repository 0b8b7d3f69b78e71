#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sim/sweep/results/expression.hpp"
#include "sim/sweep/results/reader.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

using ::testing::HasSubstr;

std::string sql(const std::string& text) {
  return sweep::where_to_sql(text, sweep::result_columns({"cache.l1.bytes", "scheduler.model:pool"}));
}

TEST(Expression, NamesGetTheirQuotes) {
  EXPECT_EQ(sql("cache.l1.bytes >= 65536"), "\"cache.l1.bytes\" >= 65536");
  EXPECT_EQ(sql("scheduler.model:pool=2 && packing == \"identity\""),
            "\"scheduler.model:pool\"=2  AND  \"packing\" == 'identity'");
  EXPECT_EQ(sql("l1_hit_rate > 1.5e-3 || not (run in (1, 2))"),
            "\"l1_hit_rate\" > 1.5e-3  OR  not (\"run\" in (1, 2))");
  EXPECT_EQ(sql("packing like 'rand%' and \"packing\" <> 'it''s'"),
            "\"packing\" like 'rand%' and \"packing\" <> 'it''s'");
  EXPECT_EQ(sql("abs(l1_hit_rate - 0.5) < 0.1"), "abs(\"l1_hit_rate\" - 0.5) < 0.1");
}

TEST(Expression, WhatIsNoneIsRefused) {
  const auto message = [](const std::string& text) {
    try {
      (void)sql(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("cache.l1.byte > 1"), HasSubstr("'cache.l1.bytes'"));
  EXPECT_THAT(message("packing = 'open"), HasSubstr("not closed"));
  EXPECT_THAT(message("run = 1; DROP TABLE runs"), HasSubstr("semicolon"));
}

TEST(Expression, SelectsRows) {
  const TemporaryFolder folder;
  write_made_up(folder / "s.db");
  const sweep::ResultsReader reader(folder / "s.db");
  EXPECT_EQ(reader.count("cache.l1.bytes >= 65536 && packing = 'identity'"), 16U);
  EXPECT_EQ(reader.count("error like '%cannot%'"), 1U);
  EXPECT_THROW((void)reader.count("run = ("), Error);
}

}  // namespace
}  // namespace rayreplay::test
