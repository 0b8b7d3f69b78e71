// Notes on recorded accesses that are not all, and the sum of lost ones that they are of.
#include "capture/profile/access_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/trace/lost_accesses.hpp"

namespace rayreplay::profile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

trace::Header with(const std::string& configuration) {
  trace::Header header;
  header.configuration = configuration;
  return header;
}

std::string losing(const std::string& rows) {
  return R"({"capture":{"missing_accesses":[)" + rows + "]}}";
}

TEST(AccessNotes, SayWhatIsMissing) {
  EXPECT_THAT(access_notes(with("{}"), 5), IsEmpty());
  EXPECT_THAT(access_notes(with(R"({"capture":{"options":{"profile_memory_sample":"1"}}})"), 5), IsEmpty());
  EXPECT_THAT(access_notes(with(R"({"capture":{"options":{"profile_memory_sample":"1000"}}})"), 5),
              ElementsAre(AllOf(HasSubstr("those of one thread in 1,000 alone"), HasSubstr("nothing is scaled"))));
  EXPECT_THAT(access_notes(with(R"({"capture":{"options":{"profile_memory_sample":"3"},"missing_accesses":[)"
                                R"({"launch":0,"accesses":0,"lost_words":2}]}})"),
                           5),
              ElementsAre(HasSubstr("one thread in 3 alone"),
                          StartsWith("the capture lost 2 words of events, which may have held accesses of shaders:")));
}

TEST(LostAccesses, AreSumsOfLaunches) {
  const std::string rows = R"({"launch":0,"accesses":1000,"lost_words":0},{"launch":2,"accesses":5,"lost_words":1})";
  const trace::MissingAccesses all = trace::all_missing_accesses(with(losing(rows)));
  EXPECT_EQ(all, (trace::MissingAccesses{1005, 1}));
  EXPECT_EQ(trace::lost_accesses_text(all, 95),
            "the capture lost 1,005 of 1,100 accesses of shaders and 1 word of events, which may have held accesses of "
            "shaders");
  EXPECT_EQ(trace::lost_accesses_text({7, 0}, 0), "the capture lost 7 of 7 accesses of shaders");
  EXPECT_EQ(trace::lost_accesses_text({}, 9), "");
}

TEST(LostAccesses, OfAnyText) {
  for (const char* text : {"", "{", "[]", R"({"capture":1})", R"({"capture":{"missing_accesses":{}}})"}) {
    EXPECT_FALSE(trace::all_missing_accesses(with(text)).any()) << text;
  }
  EXPECT_FALSE(trace::all_missing_accesses(with(losing(R"(1,{},{"launch":"0","accesses":1})"))).any());
  // The last object of a launch counts, and sums stay in 64 bits.
  EXPECT_EQ(trace::all_missing_accesses(with(losing(R"({"launch":0,"accesses":7},{"launch":0,"accesses":2})"))),
            (trace::MissingAccesses{2, 0}));
  const std::string most = R"({"launch":0,"accesses":18446744073709551615},{"launch":1,"accesses":2})";
  const trace::MissingAccesses all = trace::all_missing_accesses(with(losing(most)));
  EXPECT_EQ(all.accesses, ~std::uint64_t{0});
  EXPECT_THAT(trace::lost_accesses_text(all, 3), HasSubstr("of 18,446,744,073,709,551,615 accesses"));
}

}  // namespace
}  // namespace rayreplay::profile
