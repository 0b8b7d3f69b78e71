// The progress of a part: it makes the whole's line be drawn again, and shows nothing of its own.
#include "base/heartbeat.hpp"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

namespace rayreplay {
namespace {

struct Calls : Progress {
  void start(std::string_view /*stage*/, std::uint64_t /*total*/) override {
    ++starts;
  }
  void advance(std::uint64_t units) override {
    ++advances;
    done += units;
  }
  void finish() override {
    ++finishes;
  }
  int starts = 0, advances = 0, finishes = 0;
  std::uint64_t done = 0;
};

TEST(Heartbeat, EachUnitDrawsTheWholesLineAgain) {
  Calls whole;
  whole.start("whole", 3);
  Heartbeat part(&whole);
  part.start("part", 100);
  part.advance(60);
  part.advance(40);
  part.finish();
  EXPECT_EQ(whole.starts, 1);
  EXPECT_EQ(whole.advances, 2);
  EXPECT_EQ(whole.done, 0U);
  EXPECT_EQ(whole.finishes, 0);
}

TEST(Heartbeat, WithoutAWholeNothingIsShown) {
  Heartbeat part(nullptr);
  part.start("part", 1);
  part.advance(1);
  part.finish();
}

}  // namespace
}  // namespace rayreplay
