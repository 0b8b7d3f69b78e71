// TOML is measured before it is parsed: depth in all its spellings, and nothing that only looks like depth.
#include "base/toml.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string repeated(const std::string& part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += part;
  }
  return text;
}

/// "a.a.a" of so many parts.
std::string dotted(std::size_t parts, const std::string& part = "a") {
  return repeated(part + ".", parts - 1) + part;
}

toml::table table_of(const std::string& text, ErrorKind kind = ErrorKind::Usage) {
  return parse_toml(text, "f.toml", "machine", kind);
}

std::string error_of(const std::string& text, ErrorKind kind = ErrorKind::Usage) {
  return test::message_of(kind, [&] { return table_of(text, kind); });
}

TEST(ParseToml, GivesTheTable) {
  const toml::table table = parse_toml("a.b = [1, {c = 'x'}]\n[d.\"e.f\"]\ng = 1\n", "f.toml", "machine");
  EXPECT_EQ(table["a"]["b"][1]["c"].value_or(std::string()), "x");
  EXPECT_EQ(table["d"]["e.f"]["g"].value_or(0), 1);
}

TEST(ParseToml, WhatIsNoTomlNamesFileAndLine) {
  EXPECT_THAT(error_of("a = 1\nb = = 2\n"), AllOf(HasSubstr("f.toml:2"), HasSubstr("the machine file is not TOML")));
  EXPECT_THAT(error_of("a = \"\xFF\"\n"), HasSubstr("not TOML"));
  EXPECT_THAT(error_of("a = = 2\n", ErrorKind::Input), HasSubstr("not TOML"));
}

/// Each would end the program inside the TOML library, or in what walks through the document.
TEST(ParseToml, DepthIsRefusedInEverySpelling) {
  for (const std::size_t deep : {kMaxTomlDepth + 1, std::size_t{50'000}, std::size_t{1'000'000}}) {
    for (const std::string& text :
         {dotted(deep) + " = 1", "[" + dotted(deep) + "]", "[[" + dotted(deep) + "]]", "a = " + repeated("[", deep),
          "a = [" + repeated("{a=", deep), "a = {" + dotted(deep) + " = 1}", "a = { x = 1, " + dotted(deep) + " = 1}",
          dotted(deep, "\"a\"") + " = 1", dotted(deep, "'a.b'") + " = 1", repeated("a . ", deep) + "a = 1",
          "[ " + repeated("a . ", deep) + "a ]"}) {
      EXPECT_THAT(error_of("x = 1\n\n" + text), AllOf(HasSubstr("f.toml:3"), HasSubstr("too deeply"),
                                                      HasSubstr("expected at most 64"), HasSubstr("Fix: ")))
          << text.substr(0, 80);
    }
  }
}

/// The library reads on behind a byte order mark, and may behind other bytes that are no key.
TEST(ParseToml, DepthBehindOtherBytesIsRefused) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_NO_THROW(table_of(mark + "[a.b]\nc = 1 # " + dotted(1000)));
  for (const std::string& before :
       {mark, mark + mark, std::string("\xC2\xA0"), std::string("\x01"), std::string("[a] "), std::string("a = 1\r")}) {
    for (const std::string& text :
         {"[" + dotted(50'000) + "]", "[[" + dotted(50'000) + "]]", dotted(50'000, "\"a\"") + " = 1",
          "\"a\" = " + repeated("[", 50'000), dotted(50'000) + " = 1"}) {
      EXPECT_THAT(error_of(before + text), HasSubstr("too deeply")) << text.substr(0, 20);
    }
  }
}

TEST(ParseToml, DepthsAddUp) {
  const std::string header = "[" + dotted(30) + "]\n";
  EXPECT_NO_THROW(table_of(header + dotted(34) + " = 1"));
  EXPECT_THAT(error_of(header + dotted(35) + " = 1"), HasSubstr("f.toml:2"));
  EXPECT_NO_THROW(table_of(header + dotted(30) + " = [[[{}]]]"));
  EXPECT_THAT(error_of(header + dotted(30) + " = [[[{a = 1}]]]"), HasSubstr("too deeply"));
  EXPECT_THAT(error_of(header + dotted(20) + " = {" + dotted(10) + " = {" + dotted(10) + " = 1}}"),
              HasSubstr("too deeply"));
}

TEST(ParseToml, WhatIsNoDepthIsTaken) {
  const std::string dots = repeated("a.", 1000) + "a";
  const std::string brackets = repeated("[{", 1000);
  const std::vector<std::string> texts = {
      "a = \"" + dots + brackets + "\"",
      "a = '" + brackets + "'",
      "# " + brackets + "\na = 1 # " + dots + brackets,
      "a = \"\"\"\n" + brackets + "\n\"" + dots + "\"\" \\\"\"\"\"",
      "a = '''\n" + brackets + "'' '''",
      "a = \"\\\"" + brackets + "\"",
      "\"" + dots + "\" = 1",
      "[\"" + dots + "\"]\n'" + brackets + "' = 1",
      "a = [" + repeated("[1], ", 1000) + "]",
      "a = [" + repeated("{b.c = 1}, ", 1000) + "]",
      "a = [ # " + brackets + "\n 1, # ]\n 2\n]\nb = 1",
      "a = 1979-05-27 07:32:00\nb = 3.5",
      repeated("[[a.b]]\nc.d = 1\n", 1000),
      "a = { b = 1, c.d = 1, e.f = [1, 2] }",
      "a = \"\"\"x\"\"\"\"\"\nb = '''y'''''\nc = 1",
  };
  for (const std::string& text : texts) {
    EXPECT_NO_THROW(table_of(text)) << text.substr(0, 80);
  }
}

TEST(ParseToml, LongKeysAndLongTextsAreRefused) {
  EXPECT_NO_THROW(table_of(std::string(kMaxTomlKeyBytes, 'k') + " = 1"));
  EXPECT_THAT(error_of("\n" + std::string(kMaxTomlKeyBytes + 1, 'k') + " = 1"),
              AllOf(HasSubstr("f.toml:2"), HasSubstr("a key is too long")));
  EXPECT_THAT(error_of("#" + std::string(kMaxTomlBytes, ' ')), HasSubstr("too large"));
}

}  // namespace
}  // namespace rayreplay
