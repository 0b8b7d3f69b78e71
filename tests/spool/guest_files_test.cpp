// Files of the layer's: descriptors, regular files, folders.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/spool/guest_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using spool::make_private_folders;
using spool::open_apart;
using spool::read_regular;

/// Runs in a process of its own; its result is 0 if all held.
template <typename Work>
int in_child(const Work& work) {
  const auto child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(GuestFiles, NoStandardDescriptorIsTaken) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "text");
  // Every set of closed standard descriptors.
  for (int closed = 0; closed < 8; ++closed) {
    const int result = in_child([&] {
      // A test may be started without some of them.
      int standard = 0;
      while (standard >= 0 && standard < 3) {
        standard = open("/dev/null", O_RDWR);
      }
      close(standard);
      for (int number = 0; number < 3; ++number) {
        if ((closed >> number & 1) != 0) {
          close(number);
        }
      }
      const int file = open_apart(path.c_str(), O_RDONLY);
      if (file < 3 || (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0) {
        return 1;
      }
      int missing = 0;
      for (int number = 0; number < 3; ++number) {
        missing |= fcntl(number, F_GETFD) < 0 ? 1 << number : 0;
      }
      if (missing != closed) {
        return 2;
      }
      char text[4];
      return read(file, text, sizeof text) == 4 && text[0] == 't' ? 0 : 3;
    });
    EXPECT_EQ(result, 0) << "closed " << closed;
  }
}

TEST(GuestFiles, OnlyRegularFilesOfBoundedSizeAreRead) {
  const TemporaryFolder folder;
  std::string why;
  EXPECT_EQ(read_regular(folder.write("four", "text"), 4, why), "text");
  EXPECT_EQ(read_regular(folder.write("none", ""), 0, why), "");
  EXPECT_EQ(read_regular(folder.write("large", std::string(1'000'000, 'x')), 1'000'000, why)->size(), 1'000'000U);
  EXPECT_EQ(why, "");
  EXPECT_FALSE(read_regular((folder / "four").string(), 3, why));
  EXPECT_EQ(why, "it has more than 3 bytes");
  EXPECT_FALSE(read_regular((folder / "absent").string(), 3, why));
  EXPECT_EQ(why, "it cannot be opened: No such file or directory");
  const auto pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, std::string("/dev/zero"), folder.path().string()}) {
    EXPECT_FALSE(read_regular(path, 100, why)) << path;
    EXPECT_EQ(why, "it is no regular file") << path;
  }
}

TEST(GuestFiles, FoldersAreTheirOwnersAlone) {
  const TemporaryFolder folder;
  const auto mode = [](const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
  };
  const auto open_one = (folder / "open").string();
  ASSERT_EQ(mkdir(open_one.c_str(), 0700), 0);
  ASSERT_EQ(chmod(open_one.c_str(), 0755), 0);
  EXPECT_TRUE(make_private_folders(open_one + "/a/b"));
  EXPECT_EQ(mode(open_one), 0755U);
  EXPECT_EQ(mode(open_one + "/a"), 0700U);
  EXPECT_EQ(mode(open_one + "/a/b"), 0700U);
  EXPECT_TRUE(make_private_folders(open_one + "/a/b/"));
  EXPECT_FALSE(make_private_folders(folder.write("file", "") + "/a"));
  EXPECT_FALSE(make_private_folders((folder / "file").string()));
}

}  // namespace
}  // namespace rayreplay::test
