// The contracts of assignments and swizzles.
#include "scheduler-models/warp_assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WarpAssignment sound() {
  return assign("z-order:tile=2x2", empty_launch({3, 2, 1}), 2);
}

TEST(WarpAssignmentCheck, AcceptsASoundOne) {
  EXPECT_NO_THROW(check(sound(), 6));
}

TEST(WarpAssignmentCheck, NamesEachBrokenRule) {
  const std::vector<std::function<void(WarpAssignment&)>> breaks{
      [](WarpAssignment& a) { a.warp_size = 0; },
      [](WarpAssignment& a) { a.warp_size = 65; },
      [](WarpAssignment& a) { a.thread_at.pop_back(); },
      [](WarpAssignment& a) { a.tile.pop_back(); },
      [](WarpAssignment& a) { a.thread_at[0] = a.thread_at[1]; },
      [](WarpAssignment& a) { a.thread_at[0] = 6; },
      [](WarpAssignment& a) { a.thread_at[0] = kNoThread; },
      [](WarpAssignment& a) { a.start_rank[0] = a.start_rank[1]; },
      [](WarpAssignment& a) { a.start_rank[0] = 4; },
      [](WarpAssignment& a) { a.tile[0] = 4; },
      [](WarpAssignment& a) { a.tile.assign(4, 1); },
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    WarpAssignment assignment = sound();
    breaks[i](assignment);
    const Error error = error_of([&] { check(assignment, 6); });
    EXPECT_EQ(error.kind(), ErrorKind::Internal) << i;
    EXPECT_THAT(error.info().what, HasSubstr("breaks its contract")) << i;
  }
}

TEST(Bijection, NamesTheFirstOffendingRow) {
  EXPECT_NO_THROW(check_bijection(Swizzle{2, 0, 1}, 3, "s"));
  EXPECT_NO_THROW(check_bijection(Swizzle{}, 0, "s"));
  const Error twice = error_of([] { check_bijection(Swizzle{3, 1, 0, 1, 3}, 5, "s.bin"); });
  EXPECT_EQ(twice.kind(), ErrorKind::Input);
  EXPECT_EQ(twice.info().where, "s.bin[3]");
  EXPECT_EQ(twice.info().found, "row 3 repeats thread 1, first seen at row 1");
  const Error beyond = error_of([] { check_bijection(Swizzle{0, 3, 3}, 3, "s.bin"); });
  EXPECT_EQ(beyond.info().found, "row 1 names thread 3");
  EXPECT_EQ(beyond.info().expected, "each thread from 0 to 2 once");
  const Error length = error_of([] { check_bijection(Swizzle{0, 1}, 3, "s.bin"); });
  EXPECT_EQ(length.info().found, "2 rows for 3 threads");
}

TEST(Apply, ThreadsTakeOverTheWorkAndEmptyLanesStayEmpty) {
  const WarpAssignment before = assign("linear:warp=2x1", empty_launch({3, 1, 1}), 2);
  const WarpAssignment after = scheduler::apply(before, Swizzle{2, 0, 1});
  EXPECT_THAT(after.thread_at, ElementsAre(2, 0, 1, kNoThread));
  EXPECT_EQ(after.start_rank, before.start_rank);
  EXPECT_EQ(after.tile, before.tile);
  EXPECT_EQ(error_of([&] { (void)scheduler::apply(before, Swizzle{0, 1}); }).kind(), ErrorKind::Input);
  EXPECT_EQ(error_of([&] { (void)scheduler::apply(before, Swizzle{0, 1, 1}); }).kind(), ErrorKind::Input);
}

}  // namespace
}  // namespace rayreplay::scheduler::test
