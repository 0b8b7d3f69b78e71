// CSV from outside: every form that RFC 4180 allows, and every fault with its place.
#include "base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kMostRows = 1000;

CsvTable parsed(std::string_view text) {
  return parse_csv(text, "m.csv", kMostRows);
}

std::string csv_error(std::string_view text, std::size_t most_rows = kMostRows) {
  return test::message_of(ErrorKind::Input, [&] { return parse_csv(text, "m.csv", most_rows); });
}

TEST(Csv, CellsPlainAndQuoted) {
  const CsvTable table = parsed("a,\"b,c\",d\r\n1, 2 ,\"x \"\"y\"\"\r\nz\"\r\n\r\n\n,,\n4,5,6");
  EXPECT_THAT(table.header.cells, ElementsAre("a", "b,c", "d"));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("1", " 2 ", "x \"y\"\r\nz"));
  EXPECT_EQ(table.rows[0].line, 2U);
  EXPECT_THAT(table.rows[1].cells, ElementsAre("", "", ""));
  EXPECT_EQ(table.rows[1].line, 6U);
  EXPECT_THAT(table.rows[2].cells, ElementsAre("4", "5", "6"));
  EXPECT_EQ(table.column("d"), 2U);
  EXPECT_EQ(table.column("e"), std::nullopt);
  EXPECT_EQ(table.place(table.rows[2], 1), "m.csv:7, column 2 (b,c)");
}

TEST(Csv, AMarkOfByteOrderIsNoPartOfTheFirstName) {
  EXPECT_THAT(parsed("\xef\xbb\xbf"
                     "a,b\n1,2\n")
                  .header.cells,
              ElementsAre("a", "b"));
}

TEST(Csv, ALastCommaIsAnEmptyCell) {
  EXPECT_THAT(parsed("a,b\n1,").rows.front().cells, ElementsAre("1", ""));
}

TEST(Csv, FaultsNameTheirPlace) {
  EXPECT_THAT(csv_error(""), HasSubstr("m.csv: the file has no header line"));
  EXPECT_THAT(csv_error("\n\r\n"), HasSubstr("the file has no header line"));
  EXPECT_THAT(csv_error("a,b\n1\n"), HasSubstr("m.csv:2: a row has too few cells (found 1 cell; expected 2 cells"));
  EXPECT_THAT(csv_error("a,b\n\n1,2,3\n"), HasSubstr("m.csv:3: a row has too many cells (found 3 cells"));
  EXPECT_THAT(csv_error("a,a\n"), HasSubstr("m.csv:1, column 2: two columns have one name (found 'a'"));
  EXPECT_THAT(csv_error("a,,b\n"), HasSubstr("m.csv:1, column 2: a column has no name"));
  EXPECT_THAT(csv_error("a,b\n1,x\"y\n"), HasSubstr("m.csv:2:4: a quote stands inside a cell"));
  EXPECT_THAT(csv_error("a,b\n\"1\"x,2\n"), HasSubstr("m.csv:2:4: text follows a closing quote (found 'x,2'"));
  EXPECT_THAT(csv_error("a,b\n1,\"x\n2,3\n"), HasSubstr("m.csv:2:3: a quote has no end"));
  EXPECT_THAT(csv_error("a,b\n1,\xff\n"), HasSubstr("m.csv:2:3: the file is no text (found byte 0xff"));
  EXPECT_THAT(csv_error(std::string_view("a\nb\0c\n", 6)),
              HasSubstr("m.csv:2:2: the file is no text (found byte 0x00"));
  EXPECT_THAT(csv_error("a\n1\n2\n3\n", 2), HasSubstr("m.csv:4: the file has too many rows (expected at most 2 rows)"));
}

/// A cell as RFC 4180 writes it.
std::string written(const std::string& cell) {
  std::string text = "\"";
  for (const char one : cell) {
    text += one == '"' ? std::string("\"\"") : std::string(1, one);
  }
  return text + "\"";
}

TEST(Csv, WhatIsWrittenIsRead) {
  std::mt19937 random(7);
  constexpr std::string_view kLetters = "a,\"\n\r '=";
  for (int run = 0; run < 200; ++run) {
    const std::size_t columns = 1 + random() % 4;
    std::vector<std::vector<std::string>> rows(1 + random() % 5, std::vector<std::string>(columns));
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) {
      text += (i == 0 ? "" : ",") + written("c" + std::to_string(i));
    }
    text += "\n";
    for (auto& row : rows) {
      for (std::size_t i = 0; i < columns; ++i) {
        for (auto length = random() % 6; length > 0; --length) {
          row[i] += kLetters[random() % kLetters.size()];
        }
        text += (i == 0 ? "" : ",") + written(row[i]);
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    const CsvTable table = parsed(text);
    ASSERT_EQ(table.rows.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(table.rows[i].cells, rows[i]);
    }
  }
}

TEST(Csv, AnyBytesAreReadOrRefused) {
  std::mt19937 random(11);
  constexpr std::string_view kLetters = "ab,,\"\"\n\r\xc3\xa4";
  for (int run = 0; run < 5000; ++run) {
    std::string text;
    for (auto length = random() % 24; length > 0; --length) {
      text += kLetters[random() % kLetters.size()];
    }
    try {
      for (const CsvRow& row : parsed(text).rows) {
        EXPECT_GT(row.line, 1U);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
    }
  }
}

}  // namespace
}  // namespace rayreplay
