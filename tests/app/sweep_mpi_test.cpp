// rayreplay sweep under mpirun, on one machine: the same table, and ranks that are killed.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/app/process.hpp"
#include "tests/app/sweep_files.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;

class SweepMpi : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<Scratch>();
    // Long enough for a rank to be killed in the middle.
    write_text(*made_ / "s.toml", sweep_with("warps=4000", "warps=12000"));
    const Outcome outcome = run_command({"sweep", *made_ / "s.toml", "--store", "none", "-o", *made_ / "whole.db"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
  }
  static void TearDownTestSuite() {
    made_.reset();
  }
  static std::vector<std::vector<std::string>> whole() {
    return sweep_rows(*made_ / "whole.db");
  }
  /// Tests may run as root in a container, and with more ranks than there are cores.
  static Process::Variables environment() {
    return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
            {"OMPI_MCA_plm_rsh_agent", "/bin/false"},
            {"OMPI_MCA_btl", "self,vader"}};
  }
  [[nodiscard]] std::vector<std::string> launch(const std::vector<std::string>& launcher,
                                                const std::vector<std::string>& more) const {
    std::vector<std::string> words{RAYREPLAY_MPIEXEC};
    words.insert(words.end(), launcher.begin(), launcher.end());
    for (const std::string& word : {std::string(RAYREPLAY_COMMAND), std::string("sweep"), *made_ / "s.toml",
                                    std::string("--store"), std::string("none"), std::string("-o"), database()}) {
      words.push_back(word);
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] std::string database() const {
    return scratch_ / "s.db";
  }

  static std::unique_ptr<Scratch> made_;
  Scratch scratch_;
};

std::unique_ptr<Scratch> SweepMpi::made_;

TEST_F(SweepMpi, RanksGiveTheSameTable) {
  for (const std::string ranks : {"2", "3"}) {
    Process process(launch({"-n", ranks}, {"--mpi-workers", "rank", "--restart"}), environment());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::Not(HasSubstr("lost")));
    EXPECT_EQ(sweep_rows(database()), whole()) << ranks;
  }
}

TEST_F(SweepMpi, OneProcessOfAMachineWorksForAll) {
  Process process(launch({"-n", "3"}, {}), environment());
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
}

TEST_F(SweepMpi, AnErrorIsToldOnce) {
  write_text(scratch_ / "bad.toml", "[experiment]\nworkload = \"divergence\"\n[axes]\npackin = [\"identity\"]\n");
  std::vector<std::string> words{RAYREPLAY_MPIEXEC, "-n", "2", RAYREPLAY_COMMAND, "sweep", scratch_ / "bad.toml"};
  Process process(words, environment());
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 2) << outcome.errors;
  const std::size_t first = outcome.errors.find("rayreplay: error:");
  ASSERT_NE(first, std::string::npos) << outcome.errors;
  EXPECT_EQ(outcome.errors.find("rayreplay: error:", first + 1), std::string::npos) << outcome.errors;
}

pid_t rank_of(const Process& launcher, int rank) {
  const auto found = children_with(launcher.pid(), "OMPI_COMM_WORLD_RANK=" + std::to_string(rank));
  return found.empty() ? 0 : found.front();
}

TEST_F(SweepMpi, AKilledRankEndsTheJobAndTheSameCommandGoesOn) {
  Process process(launch({"-n", "3"}, {"--mpi-workers", "rank"}), environment());
  ASSERT_TRUE(process.wait_until([&] { return row_count(database()) > 0; }));
  ::kill(rank_of(process, 1), SIGKILL);
  EXPECT_NE(process.wait().code, 0);
  EXPECT_GT(row_count(database()), 0U);
  Process again(launch({"-n", "3"}, {"--mpi-workers", "rank"}), environment());
  const Outcome outcome = again.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
}

TEST_F(SweepMpi, WhereMpiGoesOnTheOthersFinish) {
  Process process(launch({"--enable-recovery", "-n", "3"}, {"--mpi-workers", "rank", "--mpi-timeout", "3"}),
                  environment());
  ASSERT_TRUE(process.wait_until([&] { return row_count(database()) > 0; }));
  const pid_t victim = rank_of(process, 2);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  const Outcome outcome = process.wait();
  EXPECT_EQ(sweep_rows(database()), whole()) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("rank 2"));
}

TEST_F(SweepMpi, WhereRankZeroIsLostTheOthersEnd) {
  Process process(launch({"--enable-recovery", "-n", "3"}, {"--mpi-workers", "rank", "--mpi-timeout", "3"}),
                  environment());
  ASSERT_TRUE(process.wait_until([&] { return row_count(database()) > 0; }));
  const pid_t victim = rank_of(process, 0);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  // A minute is the most that it waits for: patience for a rank 0 that has not begun.
  EXPECT_FALSE(process.wait_until([] { return false; }));
  ASSERT_TRUE(process.ended()) << "the other ranks hang";
  EXPECT_THAT(process.wait().errors, HasSubstr("is silent"));
  Process again(launch({"-n", "3"}, {"--mpi-workers", "rank"}), environment());
  const Outcome outcome = again.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
}

}  // namespace
}  // namespace rayreplay::test
