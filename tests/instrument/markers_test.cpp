// A developer's markers: sound ones are recorded, others are left alone and named; all stay in the module.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/instrument/support/listing.hpp"

namespace rayreplay {
namespace {

using testing::UnorderedElementsAre;

std::size_t calls_of_probe(const test::Listing& listing) {
  std::size_t calls = 0;
  for (const auto& [id, lines] : listing.functions) {
    calls += test::count_calls(listing, lines, "rr_hint");
  }
  return calls;
}

/// Of the application's functions; the probes have extended instructions of their own.
std::size_t markers(const test::Listing& given, const test::Listing& listing) {
  std::size_t found = 0;
  for (const auto& [id, lines] : given.functions) {
    found += test::count(listing.functions.at(id), {"OpExtInst"});
  }
  return found;
}

TEST(Markers, SoundOnesAreRecordedAndOthersNamed) {
  const std::string start = "a marker of NonSemantic.rayreplay is not recorded: ";
  const test::Words& words = test::corpus_module("markers.rgen.vulkan1.2.stripped").words;
  const instrument::Result result = instrument::instrument(words, test::plain_options());
  ASSERT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  EXPECT_THAT(result.notes,
              UnorderedElementsAre(start + "the operand of Hint is no 32-bit integer",
                                   start + "Hint has 2 operands, expected 1", start + "Hint has 0 operands, expected 1",
                                   start + "instruction 2 is unknown, expected 1 (Hint)"));
  const test::Listing before = test::list(words);
  const test::Listing after = test::list(result.spirv);
  EXPECT_EQ(calls_of_probe(after), 2U);
  EXPECT_EQ(markers(before, before), 7U);
  EXPECT_EQ(markers(before, after), 7U);
}

TEST(Markers, NothingIsSaidWithoutRecords) {
  instrument::Options options = test::plain_options();
  options.record = false;
  const test::Words& words = test::corpus_module("markers.rgen.vulkan1.2.stripped").words;
  const instrument::Result result = instrument::instrument(words, options);
  EXPECT_EQ(result.status, instrument::Status::Unchanged);
  EXPECT_TRUE(result.notes.empty());
}

}  // namespace
}  // namespace rayreplay
