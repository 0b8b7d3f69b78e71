#include "base/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  test::TemporaryFolder folder_;
};

TEST_F(OutputFileTest, NothingStandsThereWithoutCommit) {
  {
    const OutputFile file(folder_ / "a", false);
    std::ofstream(file.temporary_path()) << "half";
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(OutputFileTest, ExistingFileIsKeptUnlessAskedFor) {
  write_file(folder_ / "a", "one", false);
  EXPECT_THROW(write_file(folder_ / "a", "two", false), Error);
  EXPECT_EQ(content(folder_ / "a"), "one");
  write_file(folder_ / "a", "two", true);
  EXPECT_EQ(content(folder_ / "a"), "two");
}

TEST_F(OutputFileTest, FileMadeMeanwhileIsNotReplaced) {
  OutputFile file(folder_ / "a", false);
  std::ofstream(file.temporary_path()) << "mine";
  std::ofstream(folder_ / "a") << "theirs";
  EXPECT_THROW(file.commit(), Error);
  EXPECT_EQ(content(folder_ / "a"), "theirs");
}

TEST_F(OutputFileTest, FullDiskIsAnErrorThatNamesTheFix) {
  try {
    write_file("/dev/full", "text", true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Output);
    EXPECT_THAT(error.what(), testing::HasSubstr("free space"));
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_THROW(OutputFile("/dev/full", true), Error);
}

TEST_F(OutputFileTest, MissingFolderIsNamed) {
  try {
    write_file(folder_ / "no" / "a", "x", false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("mkdir -p"));
  }
}

}  // namespace
}  // namespace rayreplay
