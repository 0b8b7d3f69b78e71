#include "base/count_text.hpp"

#include <gtest/gtest.h>

namespace rayreplay {
namespace {

TEST(CountTextTest, OneIsSingular) {
  EXPECT_EQ(counted(1, "launch", "launches"), "1 launch");
  EXPECT_EQ(counted(0, "launch", "launches"), "0 launches");
  EXPECT_EQ(counted(2, "launch", "launches"), "2 launches");
  EXPECT_EQ(counted(1, "ray"), "1 ray");
  EXPECT_EQ(counted(1'234'567, "ray"), "1,234,567 rays");
  EXPECT_EQ(noun(1, "ray"), "ray");
  EXPECT_EQ(noun(11, "ray"), "rays");
}

}  // namespace
}  // namespace rayreplay
