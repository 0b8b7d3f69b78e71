// The accesses that a capture lost, by launch, from any configuration.
#include "capture/trace/missing_accesses.hpp"

#include <gtest/gtest.h>

namespace rayreplay::trace {
namespace {

MissingAccesses of(const std::string& configuration, std::uint64_t launch) {
  Header header;
  header.configuration = configuration;
  return missing_accesses(header, launch);
}

TEST(MissingAccesses, AreThoseOfTheLaunch) {
  const std::string text = R"({"capture":{"missing_accesses":[{"launch":1,"accesses":7,"lost_words":0},)"
                           R"({"launch":3,"accesses":0,"lost_words":9}]}})";
  EXPECT_FALSE(of(text, 0).any());
  EXPECT_EQ(of(text, 1), (MissingAccesses{7, 0}));
  EXPECT_FALSE(of(text, 2).any());
  EXPECT_EQ(of(text, 3), (MissingAccesses{0, 9}));
}

TEST(MissingAccesses, AreNoneWhereNothingIsSaid) {
  for (const char* rows :
       {"1", "{}", "[1]", "[[]]", "[{}]", R"([{"launch":"0","accesses":1}])", R"([{"launch":1,"accesses":1}])",
        R"([{"launch":0,"accesses":"1"}])", R"([{"launch":0,"accesses":-1}])", R"([{"launch":0,"lost_words":1.5}])"}) {
    EXPECT_FALSE(of(R"({"capture":{"missing_accesses":)" + std::string(rows) + "}}", 0).any()) << rows;
  }
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"capture":1})", R"({"capture":[]})"}) {
    EXPECT_FALSE(of(text, 0).any()) << text;
  }
}

}  // namespace
}  // namespace rayreplay::trace
