// Tables, folders and progress lines as users and programs read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "app/console/progress.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/export/table.hpp"
#include "base/count_text.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::output {
namespace {

namespace fs = std::filesystem;

Table sample() {
  Table table;
  table.columns = {{"name", "name"},
                   {"efficiency", "SIMT", Show::Percent},
                   {"change", "change", Show::Change, 1},
                   {"events", "events"},
                   {"hidden", "hidden", Show::Plain, 2, true}};
  table.rows = {{std::string("identity"), 0.65, 0.0, std::uint64_t{1234567}, 0.1},
                {std::string("a,\"b\""), 0.5, -0.25, std::monostate(), std::nan("")}};
  return table;
}

TEST(Table, TextIsAlignedAndLeavesDetailOut) {
  EXPECT_EQ(to_text(sample()),
            "name         SIMT   change     events\n"
            "--------  -------  -------  ---------\n"
            "identity  65.00 %   +0.0 %  1,234,567\n"
            "a,\"b\"     50.00 %  -25.0 %          -\n");
}

TEST(Table, CsvQuotesAndKeepsEveryColumnAndDigit) {
  EXPECT_EQ(to_csv(sample()),
            "name,efficiency,change,events,hidden\r\n"
            "identity,0.65,0,1234567,0.1\r\n"
            "\"a,\"\"b\"\"\",0.5,-0.25,,\r\n");
}

TEST(Table, CsvHasNoFormulas) {
  Table table;
  table.columns = {{"text", "text"}, {"number", "number"}};
  const std::vector<std::string> texts = {"=1+1",      "+cmd", "-cmd", "@sum", "\tx", "\rx", "'quoted", "--1",
                                          "=A1,\"B\"", "-5",   "+0.5", "-1e3", "-",   "a=b", "1-2"};
  for (const std::string& text : texts) {
    table.rows.push_back({text, -0.5});
  }
  EXPECT_EQ(to_csv(table),
            "text,number\r\n'=1+1,-0.5\r\n'+cmd,-0.5\r\n'-cmd,-0.5\r\n'@sum,-0.5\r\n\\x09x,-0.5\r\n\\x0dx,-0.5\r\n"
            "''quoted,-0.5\r\n'--1,-0.5\r\n\"'=A1,\"\"B\"\"\",-0.5\r\n"
            "-5,-0.5\r\n+0.5,-0.5\r\n-1e3,-0.5\r\n-,-0.5\r\na=b,-0.5\r\n1-2,-0.5\r\n");
}

TEST(Table, CsvHasARowALineWhateverNamesHold) {
  Table table;
  table.columns = {{"na\nme", "name"}, {"number", "number"}};
  table.rows = {
      {std::string("a\r\nb\x1b[2J\x7f"), 1.0}, {std::string("c\0d", 3), 2.0}, {std::string("\xe2\x80\xae"), 3.0}};
  const std::string csv = to_csv(table);
  EXPECT_EQ(csv, "na\\x0ame,number\r\na\\x0d\\x0ab\\x1b[2J\\x7f,1\r\nc\\x00d,2\r\n\\u{202e},3\r\n");
  EXPECT_EQ(parse_csv(csv, "made", 10).rows.size(), 3U);
}

TEST(Table, JsonKeepsTypesAndHasNullForWhatIsNoNumber) {
  const nlohmann::ordered_json json = to_json(sample());
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["events"], 1234567);
  EXPECT_EQ(json[0]["efficiency"], 0.65);
  EXPECT_TRUE(json[1]["events"].is_null());
  EXPECT_EQ(nlohmann::json::parse(json.dump())[1]["hidden"], nullptr);
}

TEST(Table, WithoutRowsIsAHeader) {
  Table table;
  table.columns = {{"a", "A"}, {"b", "B"}};
  EXPECT_EQ(to_text(table), "A  B\n-  -\n");
  EXPECT_EQ(to_csv(table), "a,b\r\n");
  EXPECT_EQ(to_json(table).dump(), "[]");
}

TEST(Table, WidthCountsCharactersNotBytes) {
  Table table;
  table.columns = {{"a", "A"}, {"b", "B"}};
  table.rows = {{std::string("\xC3\xA9\xC3\xA9"), std::string("x")}, {std::string("ee"), std::string("y")}};
  EXPECT_EQ(to_text(table), "A   B\n--  -\n\xC3\xA9\xC3\xA9  x\nee  y\n");
}

TEST(Numbers, SeparatorsAndBytes) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(18446744073709551615ULL), "18,446,744,073,709,551,615");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(5ULL << 30U), "5.00 GiB");
}

TEST(Formats, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(parse_format("json"), Format::Json);
  try {
    static_cast<void>(parse_format("jsn"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("'json'"));
  }
}

TEST(ProgressLine, ShowsShareAndTime) {
  EXPECT_EQ(console::progress_line("packings", 1, 2, 12.3), "packings  [###############...............]  50 %  12 s");
  EXPECT_EQ(console::progress_line("events", 7, 0, 1), "events  7  1 s");
  EXPECT_THAT(console::progress_line("over", 9, 3, 1), testing::HasSubstr("100 %"));
}

class OutputFolderTest : public testing::Test {
 protected:
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  static void put(const fs::path& file) {
    std::ofstream(file) << "x";
  }
  /// A folder as the tool under test writes it.
  void make_own(const std::string& name) const {
    fs::create_directory(folder_ / name);
    std::ofstream(folder_ / name / "index") << "made by the test";
    put(folder_ / name / "old");
  }
  static FolderKind kind() {
    return {"index", "made by the test",
            [](std::string_view name) { return name == "index" || name == "old" || name == "new"; }};
  }
  [[nodiscard]] std::string refusal(const std::string& name) const {
    try {
      require_folder_writable(folder_ / name, true, kind());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Output);
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder folder_;
};

TEST_F(OutputFolderTest, StandsThereOnlyAfterCommit) {
  {
    OutputFolder output(folder_ / "out", false, kind());
    put(output.temporary_path() / "a");
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    output.commit();
  }
  EXPECT_TRUE(fs::exists(folder_ / "out" / "a"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFolderTest, LeavesNothingWithoutCommit) {
  {
    const OutputFolder output(folder_ / "out/", false, kind());
    put(output.temporary_path() / "a");
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputFolderTest, RefusesAFolderThatIsNotEmptyUnlessForced) {
  make_own("out");
  EXPECT_THROW(OutputFolder(folder_ / "out", false, kind()), Error);
  OutputFolder output(folder_ / "out/", true, kind());
  put(output.temporary_path() / "new");
  EXPECT_TRUE(fs::exists(folder_ / "out" / "old"));
  output.commit();
  EXPECT_FALSE(fs::exists(folder_ / "out" / "old"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "new"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFolderTest, ForceReplacesNothingButWhatTheToolWrote) {
  make_own("out");
  EXPECT_EQ(refusal("out"), "");
  put(folder_ / "out" / "thesis.tex");
  put(folder_ / "out" / "zebra");
  EXPECT_THAT(refusal("out"), testing::AllOf(testing::HasSubstr("'thesis.tex'"), testing::HasSubstr("another folder")));
  EXPECT_THROW(OutputFolder(folder_ / "out", true, kind()), Error);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "thesis.tex"));

  make_own("nested");
  fs::create_directory(folder_ / "nested" / "new");
  EXPECT_THAT(refusal("nested"), testing::HasSubstr("'new'"));

  make_own("linked");
  fs::create_symlink(folder_ / "out" / "zebra", folder_ / "linked" / "new");
  EXPECT_THAT(refusal("linked"), testing::HasSubstr("'new'"));

  // The right names alone do not make it ours.
  make_own("unmarked");
  put(folder_ / "unmarked" / "index");
  EXPECT_THAT(refusal("unmarked"), testing::HasSubstr("'index'"));
  fs::remove(folder_ / "unmarked" / "index");
  EXPECT_THAT(refusal("unmarked"), testing::HasSubstr("'index'"));
  EXPECT_EQ(entries(), 4U);
}

TEST_F(OutputFolderTest, AFileThatCameMeanwhileIsNotLost) {
  make_own("out");
  {
    OutputFolder output(folder_ / "out", true, kind());
    put(output.temporary_path() / "new");
    put(folder_ / "out" / "thesis.tex");
    EXPECT_THROW(output.commit(), Error);
  }
  EXPECT_TRUE(fs::exists(folder_ / "out" / "thesis.tex"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "old"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFolderTest, ALinkIsFollowed) {
  make_own("real");
  fs::create_directory_symlink(folder_ / "real", folder_ / "link");
  OutputFolder output(folder_ / "link", true, kind());
  put(output.temporary_path() / "new");
  output.commit();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::exists(folder_ / "real" / "new"));
  EXPECT_FALSE(fs::exists(folder_ / "real" / "old"));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(OutputFolderTest, TakesAnEmptyFolder) {
  fs::create_directory(folder_ / "out");
  OutputFolder output(folder_ / "out", false, kind());
  put(output.temporary_path() / "a");
  output.commit();
  EXPECT_TRUE(fs::exists(folder_ / "out" / "a"));
}

TEST_F(OutputFolderTest, RefusesAFileAndAFolderThatIsMissing) {
  put(folder_ / "file");
  EXPECT_THROW(OutputFolder(folder_ / "file", true, kind()), Error);
  EXPECT_THROW(OutputFolder(folder_ / "none" / "out", true, kind()), Error);
}

TEST_F(OutputFolderTest, RerunRemovesWhatAKilledRunLeftAndNothingOfTheUsers) {
  const auto leave_one = [this](const char* name) {
    const pid_t child = ::fork();
    if (child == 0) {
      const OutputFolder output(folder_ / "out", true, kind());
      put(output.temporary_path() / "new");
      put(output.temporary_path() / "index.part-0123456789abcdef");
      put(output.temporary_path() / name);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  };
  leave_one("old");
  ASSERT_EQ(entries(), 1U);
  {
    const OutputFolder alive(folder_ / "out", false, kind());
    EXPECT_EQ(entries(), 1U) << "the dead one is gone";
    OutputFolder output(folder_ / "out", false, kind());
    EXPECT_EQ(entries(), 2U) << "the living one is not";
    put(output.temporary_path() / "new");
    output.commit();
  }
  EXPECT_EQ(entries(), 1U);
  fs::remove_all(folder_ / "out");
  leave_one("thesis.tex");
  ASSERT_EQ(entries(), 1U);
  const fs::path left = fs::directory_iterator(folder_.path())->path();
  OutputFolder(folder_ / "out", false, kind()).commit();
  EXPECT_TRUE(fs::exists(left / "thesis.tex"));
  EXPECT_FALSE(fs::exists(left / "new"));
}

TEST_F(OutputFolderTest, InterruptionTakesUnfinishedOutputsAlong) {
  // In a process of its own, because nothing can be written after remove_unfinished_outputs.
  EXPECT_EXIT(
      {
        OutputFolder output(folder_ / "out", false, kind());
        put(output.temporary_path() / "a");
        OutputFile file(folder_ / "file", false);
        file.write("x");
        remove_unfinished_outputs();
        ::_exit(entries() == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rayreplay::output
