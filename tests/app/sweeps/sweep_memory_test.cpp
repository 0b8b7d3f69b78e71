// What a sweep may take, as the system counts it: the process itself, with several threads.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/app/sweep_files.hpp"

namespace rayreplay::test {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
/// What programs, stacks and holes between allocations are allowed beyond the budget.
constexpr std::uint64_t kSlack = 48 * kMebibyte;
constexpr std::uint64_t kBudget = 256 * kMebibyte;

/// Four access streams of 3,200,000 transactions each, 32 of every instruction.
constexpr const char* kStreams = R"(
[experiment]
workload = "stride:stride=128,instructions=6250,repeats=16"
outputs = "cache"
[axes]
"cache.l1.line_bytes" = [64, 128]
"cache.l1.sector_bytes" = [32, 64]
"cache.l1.bytes" = ["32KiB", "64KiB"]
)";
/// The program as such: everything is there but data.
constexpr const char* kNothing = "workload=stride:stride=128,instructions=1";

struct Ended {
  int code = -1;
  std::uint64_t peak_bytes = 0;  ///< resident
};

Ended run_sweep(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{RAYREPLAY_COMMAND, "sweep", "--store", "none", "--threads", "4", "--device", "cpu"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  Ended ended;
  int status = 0;
  rusage usage{};
  if (child > 0 && ::wait4(child, &status, 0, &usage) == child && WIFEXITED(status)) {
    ended.code = WEXITSTATUS(status);
    ended.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10U;
  }
  return ended;
}

TEST(SweepMemory, TheProcessStaysWithinTheBudget) {
  const Scratch scratch;
  const std::string file = write_text(scratch / "s.toml", kStreams);
  const Ended nothing = run_sweep({file, "--set", kNothing, "-o", scratch / "nothing.db"});
  ASSERT_EQ(nothing.code, 0);
  const Ended free = run_sweep({file, "--memory", "8GiB", "-o", scratch / "free.db"});
  ASSERT_EQ(free.code, 0);
  const Ended held =
      run_sweep({file, "--memory", std::to_string(kBudget / kMebibyte) + "MiB", "-o", scratch / "held.db"});
  ASSERT_EQ(held.code, 0);
  // Four units side by side; otherwise the test would show nothing.
  EXPECT_GT(free.peak_bytes - nothing.peak_bytes, kBudget + 2 * kSlack);
  EXPECT_LE(held.peak_bytes - nothing.peak_bytes, kBudget + kSlack);
  EXPECT_EQ(sweep::ResultsReader(scratch / "held.db").failures(), 0U);
  EXPECT_EQ(sweep_rows(scratch / "held.db"), sweep_rows(scratch / "free.db"));
}

/// A lane tests every primitive, and its neighbours the same: what a warp holds is fifty times what it leaves.
TEST(SweepMemory, WarpsThatAccessTogetherStayWithinTheBudgetBeforeTheyAreCoalesced) {
  const Scratch scratch;
  const std::string file = write_text(scratch / "s.toml", R"(
[experiment]
workload = "box-overlap:overlap=1,primitives=2048,warps=64"
outputs = "cache"
[axes]
"cache.l1.bytes" = ["32KiB", "64KiB"]
)");
  const Ended nothing = run_sweep({file, "--set", kNothing, "-o", scratch / "nothing.db"});
  ASSERT_EQ(nothing.code, 0);
  const Ended held = run_sweep({file, "--memory", "160MiB", "-o", scratch / "held.db"});
  ASSERT_EQ(held.code, 0);
  EXPECT_EQ(sweep::ResultsReader(scratch / "held.db").failures(), 0U);
  EXPECT_LE(held.peak_bytes - nothing.peak_bytes, 160 * kMebibyte + kSlack);
}

/// Every ray tests every primitive: a batch takes a hundred times as much as one of a common scene.
TEST(SweepMemory, TraversalsOfOverlappingScenesDoNotLeaveTheBudget) {
  const Scratch scratch;
  const std::string file = write_text(scratch / "s.toml", R"(
[experiment]
workload = "box-overlap:overlap=1,primitives=2048,warps=64"
outputs = "traversal"
[axes]
"bvh.leaf_size" = [1, 2]
)");
  const Ended nothing = run_sweep({file, "--set", kNothing, "--set", "outputs=cache", "-o", scratch / "nothing.db"});
  ASSERT_NE(nothing.peak_bytes, 0U);
  const Ended free = run_sweep({file, "--memory", "4GiB", "-o", scratch / "free.db"});
  ASSERT_EQ(free.code, 0);
  EXPECT_GT(free.peak_bytes - nothing.peak_bytes, kBudget + kSlack) << "otherwise the test would show nothing";
  const Ended held = run_sweep({file, "--memory", "256MiB", "-o", scratch / "held.db"});
  EXPECT_EQ(held.code, 1) << "all failed";
  EXPECT_LE(held.peak_bytes - nothing.peak_bytes, kBudget + kSlack);
  EXPECT_EQ(sweep::ResultsReader(scratch / "held.db").retries(), 2U);
}

/// Reservations follow the stream at hand.
TEST(SweepMemory, ShortStreamsNeedLittle) {
  const Scratch scratch;
  const std::string file = write_text(scratch / "s.toml", kStreams);
  const Ended ended = run_sweep({file, "--set", kNothing, "--memory", "1MiB", "-o", scratch / "s.db"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(sweep::ResultsReader(scratch / "s.db").failures(), 0U);
}

TEST(SweepMemory, WhatTurnsOutToFitNowhereSaysHowMuchItNeeds) {
  const Scratch scratch;
  const std::string file = write_text(scratch / "s.toml", kStreams);
  // All warps of the stream are resident: 16 bytes a transaction as recorded, and 32 as made.
  const Ended ended = run_sweep({file, "--memory", "150MiB", "-o", scratch / "s.db"});
  EXPECT_EQ(ended.code, 1) << "all failed";
  const sweep::ResultsReader reader(scratch / "s.db");
  EXPECT_EQ(reader.failures(), 8U);
  EXPECT_EQ(reader.retries(), 8U);
  for (const auto& row : reader.select({"error"}).rows) {
    const std::string error = sweep::to_text(row.at(0));
    EXPECT_NE(error.find("--memory"), std::string::npos) << error;
    EXPECT_NE(error.find("at least"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace rayreplay::test
