// Of which threads a capture recorded accesses: what its configuration says, whatever that is.
#include "capture/trace/access_sample.hpp"

#include <gtest/gtest.h>

namespace rayreplay::trace {
namespace {

std::uint64_t sample_in(const std::string& configuration) {
  Header header;
  header.configuration = configuration;
  return access_sample(header);
}

TEST(AccessSample, IsTheCapturesOption) {
  EXPECT_EQ(sample_in(R"({"capture":{"options":{"profile_memory_sample":"7"}}})"), 7U);
  EXPECT_EQ(sample_in(R"({"capture":{"options":{"profile_memory_sample":"1"}}})"), 1U);
}

TEST(AccessSample, IsOneWhereNothingIsSaid) {
  for (const char* text :
       {"", "{", "[]", "3", "{}", R"({"capture":1})", R"({"capture":{}})", R"({"capture":{"options":[]}})",
        R"({"capture":{"options":{}}})", R"({"capture":{"options":{"profile_memory_sample":7}}})",
        R"({"capture":{"options":{"profile_memory_sample":"0"}}})",
        R"({"capture":{"options":{"profile_memory_sample":"-2"}}})",
        R"({"capture":{"options":{"profile_memory_sample":"7 "}}})",
        R"({"capture":{"options":{"profile_memory_sample":"99999999999999999999"}}})"}) {
    EXPECT_EQ(sample_in(text), 1U) << text;
  }
}

}  // namespace
}  // namespace rayreplay::trace
