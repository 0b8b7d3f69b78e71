// The parser: what it keeps, and what it says of words that are no module.
#include "capture/spirv/module.hpp"

#include <gtest/gtest.h>

#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

TEST(Module, SerialisesToTheSameWords) {
  for (const test::CorpusModule& module : test::corpus()) {
    std::string reason;
    const auto parsed = spirv::parse(module.words, reason);
    ASSERT_TRUE(parsed) << module.name << ": " << reason;
    EXPECT_EQ(parsed->serialise(), module.words) << module.name;
  }
}

std::string why(const test::Words& words) {
  std::string reason;
  return spirv::parse(words, reason) ? "" : reason;
}

TEST(Module, SaysWhatIsWrong) {
  const test::Words& good = test::corpus_module("trace.rgen").words;
  ASSERT_EQ(why(good), "");
  EXPECT_NE(why({}), "");
  EXPECT_NE(why({good.begin(), good.begin() + 4}), "");
  test::Words bad = good;
  bad[0] ^= 1;
  EXPECT_NE(why(bad), "");
  bad = good;
  bad[1] = 0x00020000;
  EXPECT_NE(why(bad), "");
  bad = good;
  bad[3] = 0xFFFFFFFF;
  EXPECT_NE(why(bad), "");
  bad = good;
  bad[3] = 5;  // ids above the bound
  EXPECT_NE(why(bad), "");
  bad = good;
  bad[5] &= 0xFFFF;  // an instruction of no words
  EXPECT_NE(why(bad), "");
  bad = good;
  bad.back() = 0x00050000;  // five words where one is left
  EXPECT_NE(why(bad), "");
}

TEST(Module, EveryPrefixIsHarmless) {
  const test::Words& good = test::corpus_module("many_calls.rgen").words;
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::span<const std::uint32_t> cut(good.data(), length);
    const instrument::Result result = instrument::instrument(cut, test::plain_options());
    if (result.status == instrument::Status::Refused) {
      EXPECT_NE(result.reason, "");
    }
    (void)instrument::entry_points(cut, 0);
  }
}

TEST(Instruction, Strings) {
  for (const std::string text : {"", "a", "abc", "abcd", "abcdefg"}) {
    spirv::Instruction instruction(spv::Op::OpName, {7});
    for (const std::uint32_t word : spirv::string_words(text)) {
      instruction.add(word);
    }
    instruction.add(99);
    EXPECT_EQ(instruction.string(2), text);
    EXPECT_EQ(instruction[instruction.after_string(2)], 99U);
  }
  const spirv::Instruction open(spv::Op::OpName, {7, 0x61616161});
  EXPECT_EQ(open.string(2), "");
  EXPECT_EQ(open.after_string(2), open.size());
  EXPECT_EQ(open[100], 0U);
}

}  // namespace
}  // namespace rayreplay
