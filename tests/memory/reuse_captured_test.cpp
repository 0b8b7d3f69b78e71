// Reuse distances of captured launches: every exact engine against the reference, for the L1 of each SM and for the L2,
// in the calls that an analysis makes; and against the definition for a short one.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/memory/reuse_checks.hpp"
#include "tests/support/reuse_captured.hpp"

namespace rayreplay::test {

static void PrintTo(const CapturedCase& value, std::ostream* out) {
  *out << value.trace << " " << value.layout << (value.coalesce ? "" : " lane by lane");
}

}  // namespace rayreplay::test

namespace rayreplay::memory {
namespace {

using rayreplay::test::captured_lines;
using rayreplay::test::CapturedCase;
using rayreplay::test::CapturedLines;
using test::brute_force;
using test::Distances;
using test::exact_engines;
using test::in_pieces;
using test::Lines;
using test::whole;

class CapturedReuse : public testing::TestWithParam<CapturedCase> {};

TEST_P(CapturedReuse, EnginesAgree) {
  const CapturedLines captured = captured_lines(GetParam());
  std::vector<const Lines*> streams = {&captured.l2};
  for (const Lines& lines : captured.l1) {
    streams.push_back(&lines);
  }
  for (const Lines* const lines : streams) {
    ASSERT_GT(lines->size(), 5000U);
    const Distances expected = whole(*ReuseEngines::create("splay").model->make(), *lines);
    EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](std::uint32_t d) { return d != kInfinite && d > 50; }),
              500);
    for (const std::string& name : exact_engines()) {
      const auto engine = ReuseEngines::create(name).model;
      EXPECT_TRUE(whole(*engine->make(), *lines) == expected) << name;
      EXPECT_TRUE(in_pieces(*engine->make(), *lines, 2, 2000) == expected) << name << ", cut";
    }
    for (const SlotRank::Form form : SlotRank::forms()) {
      BitmapStack stack(form, 4096);
      EXPECT_TRUE(whole(stack, *lines) == expected) << static_cast<int>(form);
    }
    const Lines start(lines->begin(), lines->begin() + 5000);
    EXPECT_TRUE(brute_force(start) == Distances(expected.begin(), expected.begin() + 5000));
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, CapturedReuse,
                         testing::Values(CapturedCase{"bunny", "wide-8", true, 128},
                                         CapturedCase{"teapot-alpha", "binary", false, 128},
                                         CapturedCase{"one-weekend", "binary", true, 32},
                                         CapturedCase{"one-weekend-ser", "wide-8", true, 128}));

}  // namespace
}  // namespace rayreplay::memory
