#include "base/output_file.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "tests/support/error_of.hpp"
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
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      result.push_back(entry.path().filename().string());
    }
    std::sort(result.begin(), result.end());
    return result;
  }
  static mode_t mode(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  test::TemporaryFolder folder_;
};

/// Runs `act` in a child that then dies as kill -9 has it.
template <class Act>
void in_killed_child(Act&& act) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    act();
    ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(OutputFileTest, NothingStandsThereWithoutCommit) {
  {
    OutputFile file(folder_ / "a", false);
    file.write("half");
    EXPECT_EQ(names().size(), 1);
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
  file.write("mine");
  std::ofstream(folder_ / "a") << "theirs";
  EXPECT_THROW(file.commit(), Error);
  EXPECT_EQ(content(folder_ / "a"), "theirs");
}

TEST_F(OutputFileTest, FullDiskIsAnErrorThatNamesTheFix) {
  EXPECT_THAT(test::message_of(ErrorKind::Output, [&] { write_file("/dev/full", "text", true); }),
              testing::HasSubstr("free space"));
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

TEST_F(OutputFileTest, TemporaryHasAnotherNameEachTime) {
  const OutputFile one(folder_ / "a", false), two(folder_ / "a", false);
  const std::vector<std::string> all = names();
  ASSERT_EQ(all.size(), 2);
  for (const std::string& name : all) {
    EXPECT_TRUE(name.starts_with("a.part-")) << name;
    EXPECT_TRUE(is_temporary_name(name)) << name;
    EXPECT_EQ(name.find(std::to_string(::getpid())), std::string::npos) << name;
  }
}

TEST_F(OutputFileTest, LinkUnderTheOldPredictableNameIsNotFollowed) {
  write_file(folder_ / "victim", "precious", false);
  const std::string guess = "a.part-" + std::to_string(::getpid());
  fs::create_symlink(folder_ / "victim", folder_ / guess);
  write_file(folder_ / "a", "text", false);
  EXPECT_EQ(content(folder_ / "victim"), "precious");
  EXPECT_EQ(content(folder_ / "a"), "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / guess));
}

TEST_F(OutputFileTest, TemporaryExchangedForALinkOverwritesNothing) {
  write_file(folder_ / "victim", "precious", false);
  OutputFile file(folder_ / "a", false);
  for (const std::string& name : names()) {
    if (is_temporary_name(name)) {
      fs::remove(folder_ / name);
      fs::create_symlink(folder_ / "victim", folder_ / name);
    }
  }
  file.write("attack");
  EXPECT_EQ(content(folder_ / "victim"), "precious");
}

TEST_F(OutputFileTest, RerunRemovesWhatAKilledRunLeftAndNothingElse) {
  in_killed_child([&] {
    OutputFile file(folder_ / "a", false);
    file.write("half");
    OutputFile other(folder_ / "ab", false);
    other.write("half");
    ::raise(SIGKILL);
  });
  ASSERT_EQ(names().size(), 2);
  // Of this name, but no temporaries of ours: links, folders, other endings.
  std::ofstream(folder_ / "a.part-12") << "a user's";
  std::ofstream(folder_ / "a.part-0123456789abcdeX") << "a user's";
  fs::create_symlink(folder_ / "a.part-12", folder_ / "a.part-0123456789abcdef");
  fs::create_directory(folder_ / "a.part-1123456789abcdef");
  ASSERT_EQ(::mkfifo((folder_ / "a.part-2123456789abcdef").c_str(), 0600), 0);
  OutputFile alive(folder_ / "a", false);
  const std::vector<std::string> before = names();
  write_file(folder_ / "a", "whole", false);
  const std::vector<std::string> after = names();
  EXPECT_EQ(before.size(), 7);  // the dead one of "a" is gone, that of "ab" and the living one are not
  EXPECT_EQ(after.size(), 8);
  EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

TEST_F(OutputFileTest, PermissionsAreWhatTheUmaskLeaves) {
  for (const mode_t mask : {mode_t{022}, mode_t{077}, mode_t{002}}) {
    const mode_t before = ::umask(mask);
    write_file(folder_ / "a", "text", true);
    ::umask(before);
    EXPECT_EQ(mode(folder_ / "a"), 0666U & ~mask);
  }
}

TEST_F(OutputFileTest, NamesAsLongAsTheSystemTakesThem) {
  const std::string name(NAME_MAX, 'n');
  write_file(folder_ / name, "text", false);
  EXPECT_EQ(names(), std::vector<std::string>{name});
}

TEST_F(OutputFileTest, StreamKeepsOrderAndTellsTheReasonOfAFailure) {
  const std::string long_text(200000, 'x');
  {
    OutputFile file(folder_ / "a", false);
    OutputStream stream(file);
    stream << "one " << 2 << long_text << " three" << std::flush << "!";
    stream.finish();
    file.commit();
  }
  EXPECT_EQ(content(folder_ / "a"), "one 2" + long_text + " three!");
  OutputFile file(folder_ / "b", false);
  OutputStream stream(file);
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::dup2(full.get(), file.descriptor()), file.descriptor());
  EXPECT_THAT(test::message_of(ErrorKind::Output, [&] { stream << long_text; }), testing::HasSubstr("free space"));
}

TEST_F(OutputFileTest, DeletedWorkingFolderIsSaid) {
  const fs::path before = fs::current_path();
  fs::create_directory(folder_ / "gone");
  fs::current_path(folder_ / "gone");
  fs::remove(folder_ / "gone");
  const auto message = [](auto&& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([] { write_file("a", "x", false); }), testing::HasSubstr("has been deleted"));
  EXPECT_THAT(message([] { (void)read_text_file("a"); }), testing::HasSubstr("has been deleted"));
  write_file(folder_ / "whole path", "x", false);
  fs::current_path(before);
}

}  // namespace
}  // namespace rayreplay
