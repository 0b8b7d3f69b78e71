// Two ways to one table: undisturbed, and with the process killed at random moments and started again.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/split_mix.hpp"
#include "sim/sweep/results/reader.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint64_t> shuffled(std::uint64_t seed) {
  std::vector<std::uint64_t> order(kRuns);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[split_mix(seed, i) % i]);
  }
  return order;
}

/// What a sweep does: whatever is not finished, in some order, committed now and then.
void work(const fs::path& path, std::uint64_t seed) {
  sweep::ResultsWriter writer(path, made_up_sweep(), false);
  writer.check_input({"t.rrt", "feedfacefeedfacefeedfacefeedface"});
  const std::vector<bool> done = writer.finished(false);
  for (const std::uint64_t run : shuffled(seed)) {
    if (!done[run]) {
      writer.add({made_up_row(run)});
      if (split_mix(seed, run) % 4 == 0) {
        writer.commit();
      }
      ::usleep(200);
    }
  }
}

TEST(Kill, AtAnyMomentLosesNothingThatWasCommitted) {
  const TemporaryFolder folder;
  write_made_up(folder / "whole.db");
  const sweep::ResultsReader whole(folder / "whole.db");
  std::vector<std::string> names;
  for (const sweep::ResultColumn& column : whole.columns()) {
    names.push_back(column.name);
  }
  const auto expected = whole.select(names).rows;

  constexpr int kSweeps = 6;
  int kills = 0;
  for (std::uint64_t sweep = 0; sweep < kSweeps; ++sweep) {
    const fs::path path = folder / ("killed" + std::to_string(sweep) + ".db");
    std::uint64_t committed = 0;
    for (std::uint64_t attempt = 0;; ++attempt) {
      ASSERT_LT(attempt, 1000U) << "it never ends";
      const std::uint64_t seed = sweep * 1000 + attempt;
      const pid_t child = ::fork();
      if (child == 0) {
        try {
          work(path, seed);
        } catch (...) {
          ::_exit(1);
        }
        ::_exit(0);
      }
      ::usleep(static_cast<useconds_t>(500 + split_mix(seed, 1) % 25000));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      if (WIFEXITED(status)) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      ++kills;
      // A reader meets whatever was left, and what was there once is there still.
      if (fs::exists(path) && fs::file_size(path) > 0) {
        std::uint64_t now = 0;
        try {
          now = sweep::ResultsReader(path).count();
        } catch (const Error& error) {
          ASSERT_NE(std::string(error.what()).find("an empty file"), std::string::npos) << error.what();
        }
        ASSERT_GE(now, committed);
        committed = now;
      }
    }
    EXPECT_EQ(sweep::ResultsReader(path).select(names).rows, expected);
  }
  EXPECT_GT(kills, kSweeps);
}

}  // namespace
}  // namespace rayreplay::test
