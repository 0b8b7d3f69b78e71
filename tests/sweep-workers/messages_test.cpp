#include "sim/sweep/workers/messages.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/split_mix.hpp"

namespace rayreplay::sweep {
namespace {

template <class Kind>
Kind round_trip(const Kind& message) {
  return std::get<Kind>(decode(encode(message), "rank 1"));
}

TEST(Messages, RowsComeThroughAsTheyAre) {
  Done done{7, {}};
  done.rows.emplace_back();
  Done::Row& row = done.rows.back();
  row.run = ~0ULL;
  row.started = "2026-01-31T12:00:00Z";
  row.outcome.metrics = {{"a", 0.1},
                         {"b", std::numeric_limits<double>::quiet_NaN()},
                         {"c", -std::numeric_limits<double>::infinity()},
                         {"d", 9007199254740993.0},
                         {"e", std::numeric_limits<double>::denorm_min()},
                         {"f", -0.0}};
  row.outcome.configuration = "trace = \"ä\"\n";
  row.outcome.failure = experiment::Failure{ErrorKind::Missing, {"what", "where", "found", "expected", "fix"}};
  row.outcome.seconds = 1.5;
  const Done read = round_trip(done);
  ASSERT_EQ(read.rows.size(), 1U);
  const experiment::Outcome& outcome = read.rows[0].outcome;
  EXPECT_EQ(read.id, 7U);
  EXPECT_EQ(read.rows[0].run, ~0ULL);
  EXPECT_EQ(read.rows[0].started, row.started);
  ASSERT_EQ(outcome.metrics.size(), row.outcome.metrics.size());
  for (std::size_t i = 0; i < outcome.metrics.size(); ++i) {
    const double expected = row.outcome.metrics[i].second;
    const double found = outcome.metrics[i].second;
    EXPECT_EQ(outcome.metrics[i].first, row.outcome.metrics[i].first);
    EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << i;
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << i;
  }
  EXPECT_EQ(outcome.configuration, row.outcome.configuration);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, ErrorKind::Missing);
  EXPECT_EQ(outcome.failure->info.fix, "fix");
}

TEST(Messages, AllKindsRoundTrip) {
  const Hello hello = round_trip(Hello{"node1", "0.1.0", "abc", 12, 3, {{"t.rrt", "ff"}}});
  EXPECT_EQ(hello.host, "node1");
  EXPECT_EQ(hello.capacity, 3U);
  EXPECT_EQ(hello.inputs, (std::vector<InputFile>{{"t.rrt", "ff"}}));
  const Assign assign = round_trip(Assign{5, ~0ULL, {1, 2, ~0ULL}});
  EXPECT_EQ(assign.affinity, ~0ULL);
  EXPECT_EQ(assign.runs, (std::vector<std::uint64_t>{1, 2, ~0ULL}));
  EXPECT_EQ(round_trip(Trouble{ErrorKind::Output, {"full", "", "", "", ""}}).info.what, "full");
  const Stop stop = round_trip(Stop{2.5, false});
  EXPECT_EQ(stop.grace_seconds, 2.5);
  EXPECT_FALSE(stop.finalize);
  round_trip(Beat{});
  round_trip(Bye{});
  round_trip(StopWanted{});
}

TEST(Messages, AnotherVersionIsNamed) {
  std::string bytes = encode(Beat{});
  const std::size_t at = bytes.find("version");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 7] = 9;
  try {
    static_cast<void>(decode(bytes, "rank 3"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_NE(std::string(error.what()).find("rank 3"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("version"), std::string::npos);
  }
}

/// Whatever comes: a message or an Input error.
TEST(Messages, DamagedBytesAreErrors) {
  const std::string whole = encode(Hello{"node1", "0.1.0", "abc", 12, 3, {{"t.rrt", "ff"}}});
  std::uint64_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(static_cast<void>(decode(whole.substr(0, length), "rank 1")), Error) << length;
  }
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    damaged[split_mix(1, i) % damaged.size()] = static_cast<char>(split_mix(2, i));
    try {
      static_cast<void>(decode(damaged, "rank 1"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace rayreplay::sweep
