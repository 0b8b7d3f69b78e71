// Does the tally count as a map does?
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/support/random_trace.hpp"
#include "traversal/classification/tally.hpp"

namespace rayreplay::test {
namespace {

TEST(Tally, CountsLikeAMapWhoeverCounts) {
  Random random(1);
  std::vector<traversal::ObjectTally> tallies(3);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, traversal::KindCounts> expected;
  for (int i = 0; i < 50'000; ++i) {
    const traversal::Candidate candidate{random.below(7), random.below(3), random.below(500)};
    const auto kind = static_cast<traversal::TestKind>(random.below(traversal::kTestKinds));
    tallies[random.below(3)].count(candidate, kind);
    ++expected[{candidate.instance, candidate.geometry, candidate.primitive}][static_cast<std::size_t>(kind)];
  }
  std::vector<std::vector<traversal::ObjectCounts>> parts;
  for (traversal::ObjectTally& tally : tallies) {
    parts.push_back(tally.take());
  }
  const std::vector<traversal::ObjectCounts> merged = traversal::merge(std::move(parts));
  ASSERT_EQ(merged.size(), expected.size());
  auto next = expected.begin();
  for (const traversal::ObjectCounts& object : merged) {
    EXPECT_EQ(std::tuple(object.instance, object.geometry, object.primitive), next->first);
    EXPECT_EQ(object.counts, next->second);
    ++next;
  }
}

TEST(Tally, NothingCountedNothingThere) {
  EXPECT_TRUE(traversal::ObjectTally().take().empty());
  EXPECT_TRUE(traversal::merge({}).empty());
}

}  // namespace
}  // namespace rayreplay::test
