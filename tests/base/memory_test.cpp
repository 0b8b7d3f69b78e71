#include "base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay {
namespace {

/// A root folder with files of /proc and /sys.
class Root : public test::TemporaryFolder {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    (void)TemporaryFolder::write(name, text);
  }
};

TEST(Memory, TheSystemsAvailableMemory) {
  const Root root;
  root.write("proc/meminfo", "MemTotal:       9000 kB\nMemFree:        10 kB\nMemAvailable:   300 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(available_memory(root.path()), 300U << 10U);
}

TEST(Memory, ControlGroupsAndTheirParentsLimitIt) {
  const Root root;
  root.write("proc/meminfo", "MemAvailable:   300 kB\n");
  root.write("proc/self/cgroup", "3:cpu:/elsewhere\n0::/slice/unit\n");
  root.write("sys/fs/cgroup/slice/memory.max", "max\n");
  root.write("sys/fs/cgroup/slice/unit/memory.max", "100000\n");
  root.write("sys/fs/cgroup/slice/unit/memory.current", "60000\n");
  EXPECT_EQ(available_memory(root.path()), 40000U);
  root.write("sys/fs/cgroup/slice/unit/memory.stat", "anon 1\ninactive_file 25000\nactive_file 5\n");
  EXPECT_EQ(available_memory(root.path()), 65005U) << "file cache can be reclaimed";
  root.write("sys/fs/cgroup/slice/memory.max", "50000\n");
  root.write("sys/fs/cgroup/slice/memory.current", "70000\n");
  EXPECT_EQ(available_memory(root.path()), 0U) << "the parent is over its limit";
}

TEST(Memory, TheAddressSpaceLimitsIt) {
  const auto within_limit = [] {
    constexpr rlim_t kLimit = rlim_t{8} << 30U;
    const rlimit limit{kLimit, kLimit};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) {
      std::_Exit(2);
    }
    std::_Exit(available_memory("/none") == kLimit ? 0 : 1);  // no statm there: nothing counts as taken
  };
  EXPECT_EXIT(within_limit(), testing::ExitedWithCode(0), "");
}

TEST(Memory, WhatThisProcessHasTaken) {
  const Root root;
  EXPECT_EQ(taken_memory(root.path()), 0U) << "not known";
  root.write("proc/self/statm", "1000 50 20 1 0 30 0\n");
  EXPECT_EQ(taken_memory(root.path()), 30U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  const std::uint64_t before = taken_memory();
  const std::string some(kBytes, 'x');
  EXPECT_GE(taken_memory(), before + kBytes / 2);
}

TEST(Memory, WhatCannotFitIsRefused) {
  EXPECT_NO_THROW(require_memory(1, "it is too large", "--size", "less"));
  try {
    require_memory(std::uint64_t{1} << 62U, "it is too large", "--size", "ask for less");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Resource);
    EXPECT_EQ(error.info().where, "--size");
    EXPECT_EQ(error.info().found, "4611686018427387904 bytes needed");
    EXPECT_THAT(error.info().expected, testing::MatchesRegex("at most [0-9]+ bytes available"));
    EXPECT_EQ(error.info().fix, "ask for less");
  }
}

}  // namespace
}  // namespace rayreplay
