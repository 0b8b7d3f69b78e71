// rayreplay sweep under mpirun, on one machine: the same table, and ranks that are killed or stopped.
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
    write_text(*made_ / "s.toml", sweep_with("warps=4000", "warps=8000"));
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
            {"OMPI_MCA_hwloc_base_binding_policy", "none"},
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

  /// Of all databases, while ranks write them.
  [[nodiscard]] std::uint64_t rows_so_far() const {
    return row_count(database()) + row_count(database() + ".rank1") + row_count(database() + ".rank2");
  }
  /// Starts the sweep anew and kills a rank. False if the sweep was finished by then.
  [[nodiscard]] bool kill_in_the_middle(int victim);
  /// Kills a rank in the middle; the same command then finishes the table.
  void kill_and_go_on(int victim);

  static std::unique_ptr<Scratch> made_;
  Scratch scratch_;
};

std::unique_ptr<Scratch> SweepMpi::made_;

TEST_F(SweepMpi, RanksGiveTheSameTable) {
  for (const std::string ranks : {"2", "3"}) {
    Process process(launch({"-n", ranks}, {"--mpi-workers", "rank", "--restart"}), environment());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(sweep_rows(database()), whole()) << ranks;
    EXPECT_EQ(scratch_.names(), std::vector<std::string>{"s.db"}) << "the ranks' own are joined";
  }
}

/// As between machines: rank 0 has to answer.
TEST_F(SweepMpi, CountersWorkThroughMessages) {
  Process::Variables variables = environment();
  variables.emplace_back("OMPI_MCA_osc", "pt2pt");
  Process process(launch({"-n", "3"}, {"--mpi-workers", "rank"}), variables);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
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

bool SweepMpi::kill_in_the_middle(int victim) {
  // Rows of an attempt before this one would look like this one's: its ranks would be stopped before they are set up.
  for (const std::string& name : scratch_.names()) {
    std::filesystem::remove(scratch_ / name);
  }
  Process process(launch({"-n", "3"}, {"--mpi-workers", "rank"}), environment());
  const std::string own = victim == 0 ? database() : database() + ".rank" + std::to_string(victim);
  // The other ranks are stopped as soon as there is a row. So they cannot finish the table before the victim, which on
  // a busy machine may come to its first row late or never.
  bool works = process.wait_until([&] { return rows_so_far() > 0; });
  const auto signal_others = [&](int signal) {
    for (int rank = 0; rank < 3; ++rank) {
      if (const pid_t other = works && rank != victim ? rank_of(process, rank) : 0; other != 0) {
        ::kill(other, signal);
      }
    }
  };
  signal_others(SIGSTOP);
  const auto victim_works = [&] { return row_count(own) > 0; };
  if (works && !process.wait_until(victim_works, std::chrono::seconds(2))) {
    // The victim may wait for an answer of the others.
    signal_others(SIGCONT);
    works = process.wait_until(victim_works);
  }
  const pid_t rank = rank_of(process, victim);
  if (rank != 0) {
    ::kill(rank, SIGKILL);
  } else {
    process.signal(SIGTERM);
  }
  // The launcher ends stopped ranks too.
  const int code = process.wait().code;
  const std::uint64_t there = rows_so_far();
  EXPECT_GT(there, 0U);
  EXPECT_TRUE(code != 0 || there == kSweepRuns) << there;
  return works && rank != 0 && there < kSweepRuns;
}

void SweepMpi::kill_and_go_on(int victim) {
  // On a busy machine the others may finish the table before they are stopped.
  constexpr int kAttempts = 10;
  int attempts = 1;
  while (!kill_in_the_middle(victim)) {
    ASSERT_LT(attempts++, kAttempts) << "every kill came too late";
  }
  const std::uint64_t there = rows_so_far();
  // Joined before anything else is done: nothing that was finished is lost.
  Process join(launch({"-n", "2"}, {"--seconds", "0.000001"}), environment());
  EXPECT_EQ(join.wait().code, 0);
  EXPECT_GE(row_count(database()), there);
  Process again(launch({"-n", "3"}, {"--mpi-workers", "rank"}), environment());
  const Outcome outcome = again.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{"s.db"});
}

TEST_F(SweepMpi, AKilledRankEndsTheJobAndTheSameCommandGoesOn) {
  kill_and_go_on(1);
}

TEST_F(SweepMpi, SoDoesRankZero) {
  kill_and_go_on(0);
}

TEST_F(SweepMpi, WhatRanksLeftIsFinishedByOneProcess) {
  const auto is_interrupted = [&] {
    Process process(launch({"-n", "3"}, {"--mpi-workers", "rank", "--restart"}), environment());
    const bool works = process.wait_until([&] { return row_count(database() + ".rank1") > 0; });
    process.signal(SIGTERM);
    return process.wait().code != 0 && works;
  };
  // On a busy machine the table may be finished before the signal.
  int attempts = 1;
  while (!is_interrupted()) {
    ASSERT_LT(attempts++, 10) << "every signal came too late";
  }
  const Outcome outcome = run_command({"sweep", *made_ / "s.toml", "--store", "none", "-o", database()});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{"s.db"});
}

TEST_F(SweepMpi, TheTimeOfAllCanBeOver) {
  Process process(launch({"-n", "2"}, {"--mpi-workers", "rank", "--seconds", "0.000001"}), environment());
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("the time is over"));
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{"s.db"});
}

TEST_F(SweepMpi, RanksThatDoNotShareTheFolderSaySo) {
  const auto command = [&](const std::string& folder) {
    std::filesystem::create_directory(scratch_ / folder);
    return std::vector<std::string>{"-n",
                                    "1",
                                    RAYREPLAY_COMMAND,
                                    "sweep",
                                    *made_ / "s.toml",
                                    "--mpi-workers",
                                    "rank",
                                    "-o",
                                    scratch_ / (folder + "/s.db")};
  };
  std::vector<std::string> words{RAYREPLAY_MPIEXEC};
  for (const std::string& word : command("here")) {
    words.push_back(word);
  }
  words.emplace_back(":");
  for (const std::string& word : command("there")) {
    words.push_back(word);
  }
  Process process(words, environment());
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, static_cast<int>(ErrorKind::Output)) << outcome.errors;
  EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr("rank 1"), HasSubstr("not visible"), HasSubstr("share")));
}

}  // namespace
}  // namespace rayreplay::test
