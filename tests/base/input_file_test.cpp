#include "base/input_file.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class InputFileTest : public testing::Test {
 protected:
  static std::string failure(const fs::path& path, std::uint64_t most = kMaxTextBytes) {
    try {
      (void)read_text_file(path, most, "settings");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder folder_;
};

TEST_F(InputFileTest, ReadsWholeFilesAlsoThroughLinks) {
  const std::string text(300000, 't');
  write_file(folder_ / "a", text, false);
  fs::create_symlink(folder_ / "a", folder_ / "link");
  EXPECT_EQ(read_text_file(folder_ / "link"), text);
  EXPECT_EQ(read_start(folder_ / "a", 4), "tttt");
  write_file(folder_ / "empty", "", false);
  EXPECT_EQ(read_text_file(folder_ / "empty"), "");
  EXPECT_EQ(read_start(folder_ / "empty", 4), "");
}

TEST_F(InputFileTest, PipesDevicesAndFoldersAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure(folder_ / "pipe"), HasSubstr("a pipe"));
  EXPECT_THAT(failure("/dev/zero"), HasSubstr("a device"));
  EXPECT_THAT(failure(folder_.path()), HasSubstr("a folder"));
  EXPECT_THROW(require_regular_or_absent(folder_ / "pipe"), Error);
  EXPECT_NO_THROW(require_regular_or_absent(folder_ / "nothing"));
}

TEST_F(InputFileTest, LargerThanAllowedIsRefused) {
  write_file(folder_ / "a", "12345", false);
  EXPECT_EQ(read_text_file(folder_ / "a", 5), "12345");
  EXPECT_THAT(failure(folder_ / "a", 4), HasSubstr("at most 4 bytes"));
  // Its size is said to be 0.
  EXPECT_THAT(failure("/proc/self/maps", 10), HasSubstr("at most 10 bytes"));
}

TEST_F(InputFileTest, MissingFileIsNamed) {
  EXPECT_THAT(failure(folder_ / "nothing"), HasSubstr("cannot read the settings"));
}

}  // namespace
}  // namespace rayreplay
