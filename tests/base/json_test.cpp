// JSON out: never an exception, nothing a terminal would obey, the same document. JSON in: nothing that recurses
// deeply.
#include "base/json.hpp"
#include "base/json_depth.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rayreplay {
namespace {

using nlohmann::ordered_json;
using testing::Not;

TEST(JsonText, SoundDocumentsAreWrittenAsTheyAre) {
  const ordered_json document = {{"b", {1, 2.5, nullptr, true}}, {"a", "ä\n\"\\"}};
  EXPECT_EQ(json_text(document), document.dump());
  EXPECT_EQ(json_text(document, 2), document.dump(2));
}

TEST(JsonText, BytesThatAreNotUtf8AreWrittenOutInValuesAndKeys) {
  ordered_json document = {{"file", "/tmp/\xFF.rrt"}, {"list", {"\xC3", {{"k\x80", 1}}}}};
  const std::string text = json_text(document);
  const ordered_json again = ordered_json::parse(text);
  EXPECT_EQ(again["file"], "/tmp/\\xff.rrt");
  EXPECT_EQ(again["list"][0], "\\xc3");
  EXPECT_EQ(again["list"][1]["k\\x80"], 1);
}

TEST(JsonText, WhatATerminalWouldObeyIsEscaped) {
  const ordered_json document = {{"a\x1b[", "\x1b\x7F\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81\r\n"}};
  const std::string text = json_text(document, 2);
  for (const char* raw : {"\x1b", "\x7F", "\xC2\x9B", "\xE2\x80\xAE", "\xF3\xA0\x81\x81", "\r"}) {
    EXPECT_THAT(text, Not(testing::HasSubstr(raw)));
  }
  EXPECT_EQ(ordered_json::parse(text), document) << "a parser reads the same";
}

TEST(JsonText, TakesBothKindsOfDocuments) {
  EXPECT_EQ(json_text(nlohmann::json{{"b", 1}, {"a", 2}}), R"({"a":2,"b":1})");
}

TEST(JsonDepth, CountsBracketsOutsideOfStrings) {
  EXPECT_FALSE(is_json_deeper_than("[[1],{\"a\":[]}]", 3));
  EXPECT_TRUE(is_json_deeper_than("[[1],{\"a\":[]}]", 2));
  EXPECT_FALSE(is_json_deeper_than(R"(["[[[[", "\"[[[[", "\\"])", 1));
  EXPECT_TRUE(is_json_deeper_than(R"(["\\", [[)", 2));
  EXPECT_FALSE(is_json_deeper_than("]]]][", 1));
}

TEST(ParseJson, RefusesWhatIsNoJsonAndWhatIsNestedTooDeeply) {
  EXPECT_EQ(parse_json("{\"a\":[1]}").value()["a"][0], 1);
  EXPECT_FALSE(parse_json("{"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("\"\xFF\""));
  const auto nested = [](std::size_t depth, const char* open, const char* close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
      text += open;
    }
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) {
      text += close;
    }
    return text;
  };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth, "[", "]")));
  EXPECT_FALSE(parse_json(nested(kMaxJsonDepth + 1, "[", "]")));
  EXPECT_FALSE(parse_json(nested(1'000'000, "[", "]")));
  EXPECT_FALSE(parse_json(nested(1'000'000, "{\"a\":", "}")));
  EXPECT_TRUE(parse_json("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]"))
      << "brackets in strings are text";
}

}  // namespace
}  // namespace rayreplay
