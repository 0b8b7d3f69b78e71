// Memory limits: those of made-up systems, and this process's own.
#include "base/memory.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "capture/trace/reader.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

class AvailableMemory : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    write_bytes(path, text);
  }
  [[nodiscard]] std::uint64_t found() const {
    return available_memory(root_.path());
  }

 private:
  test::TemporaryFolder root_;
};

TEST_F(AvailableMemory, NoLimitWhereNoneIsTold) {
  EXPECT_EQ(found(), std::numeric_limits<std::uint64_t>::max());
}

TEST_F(AvailableMemory, TheSystems) {
  put("proc/meminfo", "MemTotal:  9000 kB\nMemFree: 10 kB\nMemAvailable:   4000 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(found(), 4000U * 1024);
}

TEST_F(AvailableMemory, TheLeastOfTheGroupsAbove) {
  put("proc/meminfo", "MemAvailable: 4000 kB\n");
  put("proc/self/cgroup", "0::/user/job\n");
  put("sys/fs/cgroup/user/memory.max", "1000000\n");
  put("sys/fs/cgroup/user/memory.current", "900000\n");
  put("sys/fs/cgroup/user/memory.stat", "anon 600000\nfile 300000\ninactive_file 200000\nactive_file 50000\n");
  put("sys/fs/cgroup/user/job/memory.max", "max\n");
  put("sys/fs/cgroup/user/job/memory.current", "900000\n");
  EXPECT_EQ(found(), 350000U);
  put("sys/fs/cgroup/user/job/memory.max", "950000\n");
  EXPECT_EQ(found(), 50000U);
  put("sys/fs/cgroup/user/job/memory.max", "800000\n");
  EXPECT_EQ(found(), 0U);
}

TEST_F(AvailableMemory, TheContainersOwnGroupIsTheMount) {
  put("proc/self/cgroup", "0::/not/visible/here\n");
  put("sys/fs/cgroup/memory.max", "5000\n");
  put("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(found(), 4000U);
}

TEST_F(AvailableMemory, VersionOne) {
  put("proc/self/cgroup", "9:cpu:/elsewhere\n4:hugetlb,memory:/job\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "70000\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "100000\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "70000\n");
  put("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 7000\ntotal_active_file 500\n");
  EXPECT_EQ(found(), 37500U);
}

TEST_F(AvailableMemory, TheAddressSpaceLeft) {
  put("proc/self/statm", "10 5 1 1 0 1 0\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  // Far above what the test or a sanitizer takes.
  constexpr rlim_t kLimit = rlim_t{1} << 46;
  const rlimit limited{kLimit, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  const std::uint64_t left = found();
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(left, kLimit - 10 * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace rayreplay::trace
