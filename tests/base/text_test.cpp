// Text from outside: the check for UTF-8, and the three forms, whose results hold visible characters alone.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/shortened.hpp"
#include "base/utf8.hpp"
#include "capture/layer/printable.hpp"

namespace rayreplay::text {
namespace {

TEST(Text, FindsWhereItIsNoUtf8) {
  EXPECT_EQ(invalid_at(""), kAllValid);
  EXPECT_EQ(invalid_at("plain, äöü, 日本, 🎉, \x01\x7F"), kAllValid);
  EXPECT_EQ(invalid_at("ab\xFF"), 2U);
  EXPECT_EQ(invalid_at("\x80"), 0U) << "a byte that continues nothing";
  EXPECT_EQ(invalid_at("a\xC3"), 1U) << "cut within a code point";
  EXPECT_EQ(invalid_at("\xC0\xAF"), 0U) << "overlong";
  EXPECT_EQ(invalid_at("\xE0\x80\xAF"), 0U) << "overlong";
  EXPECT_EQ(invalid_at("\xED\xA0\x80"), 0U) << "a surrogate";
  EXPECT_EQ(invalid_at("\xF4\x90\x80\x80"), 0U) << "above U+10FFFF";
  EXPECT_EQ(invalid_at("\xF4\x8F\xBF\xBF"), kAllValid);
}

TEST(Text, PrintableWritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain, äöü, 日本, 🎉 C:\\x"), "plain, äöü, 日本, 🎉 C:\\x");
  EXPECT_EQ(printable("\x1b[2J\r\n\t\x7f"), "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u{9b}31m")
      << "C1, in UTF-8";
  EXPECT_EQ(printable("\x9B"
                      "31m\xFF"),
            "\\x9b31m\\xff")
      << "C1 and others as bytes";
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6\xE2\x80\xA8\xEF\xBB\xBF\xF3\xA0\x81\x81"),
            "a\\u{202e}b\\u{2066}\\u{2028}\\u{feff}\\u{e0041}");
  EXPECT_EQ(printable_lines("a\nb\r\x1b\r\n\r"), "a\nb\\x0d\\x1b\r\n\\x0d");
}

/// Every code point, and every pair of bytes.
TEST(Text, AllFormsAreTotalAndUtf8AndTwiceIsOnce) {
  const auto check = [](const std::string& one) {
    for (const std::string& form : {printable(one), as_utf8(one), replaced(one)}) {
      ASSERT_EQ(invalid_at(form), kAllValid);
    }
    const std::string shown = printable(one);
    ASSERT_EQ(layer::printable(one), shown) << "the layer's own says the same";
    ASSERT_EQ(printable(shown), shown);
    for (std::size_t at = 0; at < shown.size(); at += utf8::decode(shown, at).bytes) {
      ASSERT_TRUE(utf8::only_shows(utf8::decode(shown, at).code));
    }
  };
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      check({static_cast<char>(a), static_cast<char>(b), 'x'});
    }
  }
  for (char32_t code = 0; code < 0x110000; code += code < 0x3000 ? 1 : 251) {
    std::string one;
    if (code < 0x80) {
      one = {static_cast<char>(code)};
    } else if (code < 0x800) {
      one = {static_cast<char>(0xC0 | code >> 6U), static_cast<char>(0x80 | (code & 0x3FU))};
    } else if (code < 0x10000) {
      one = {static_cast<char>(0xE0 | code >> 12U), static_cast<char>(0x80 | (code >> 6U & 0x3FU)),
             static_cast<char>(0x80 | (code & 0x3FU))};
    } else {
      one = {static_cast<char>(0xF0 | code >> 18U), static_cast<char>(0x80 | (code >> 12U & 0x3FU)),
             static_cast<char>(0x80 | (code >> 6U & 0x3FU)), static_cast<char>(0x80 | (code & 0x3FU))};
    }
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    ASSERT_EQ(invalid_at(one) == kAllValid, !surrogate) << static_cast<std::uint32_t>(code);
    if (!surrogate) {
      ASSERT_EQ(utf8::decode(one, 0).code, code);
    }
    check(one);
  }
}

TEST(Text, NamesOfApplicationsGetReplacementCharactersAndPathsTheirBytes) {
  EXPECT_EQ(replaced("Caf\xE9 \xF0\x9F\x8E"), "Caf\xEF\xBF\xBD \xEF\xBF\xBD");
  EXPECT_EQ(as_utf8("/tmp/Caf\xE9\x1b.rrt"), "/tmp/Caf\\xe9\x1b.rrt");
}

TEST(Text, IsShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc…");
  EXPECT_EQ(shortened("aäöüß", 8), "aäö…");
  EXPECT_EQ(shortened("aäöüß", 7), "aä…");
  EXPECT_EQ(shortened("😀😀", 7), "😀…");
  EXPECT_EQ(shortened("😀😀", 6), "…");
  EXPECT_EQ(shortened("abcd", 3), "…");
  // Bytes that are no characters.
  EXPECT_EQ(shortened(std::string(9, '\x80'), 8), std::string(2, '\x80') + "…");
  for (std::size_t most = 3; most < 30; ++most) {
    const std::string text = shortened("Größe 😀 ≤ ½ größer", most);
    EXPECT_LE(text.size(), most);
    EXPECT_EQ(invalid_at(text), kAllValid) << most;
  }
}

}  // namespace
}  // namespace rayreplay::text
