// rayreplay sweep and merge, as a user runs them, and as bad luck ends them.
#include <csignal>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "tests/app/process.hpp"
#include "tests/app/small_trace.hpp"
#include "tests/app/sweep_files.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;

class Sweeps : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<Scratch>();
    write_text(*made_ / "s.toml", kSweep);
    const Outcome outcome = run_command({"sweep", *made_ / "s.toml", "--store", "none", "-o", *made_ / "whole.db"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("rayreplay results"));
  }
  static void TearDownTestSuite() {
    made_.reset();
  }
  /// Rows of the undisturbed sweep.
  static std::vector<std::vector<std::string>> whole() {
    return sweep_rows(*made_ / "whole.db");
  }
  static std::string sweep_file() {
    return *made_ / "s.toml";
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> list{"sweep", sweep_file(), "--store", "none", "-o", scratch_ / "s.db"};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }
  [[nodiscard]] std::vector<std::string> program(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> list = arguments(more);
    list.insert(list.begin(), RAYREPLAY_COMMAND);
    return list;
  }
  [[nodiscard]] std::string database() const {
    return scratch_ / "s.db";
  }
  /// A sweep that lasts some seconds on one thread: where the disk is slow, rows are committed but once a second.
  [[nodiscard]] std::string slow_file() const {
    return write_text(scratch_ / "slow.toml", sweep_with("warps=4000", "warps=24000"));
  }

  static std::unique_ptr<Scratch> made_;
  Scratch scratch_;
};

std::unique_ptr<Scratch> Sweeps::made_;

TEST_F(Sweeps, TheTableDoesNotDependOnThreads) {
  EXPECT_EQ(whole().size(), kSweepRuns);
  for (const std::string threads : {"1", "2", "8"}) {
    const std::string file = scratch_ / (threads + ".db");
    const Outcome outcome = run_command({"sweep", sweep_file(), "--store", "none", "--threads", threads, "-o", file});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(sweep_rows(file), whole()) << threads;
  }
}

TEST_F(Sweeps, AStoreChangesNothing) {
  for (int turn = 0; turn < 2; ++turn) {
    const Outcome outcome =
        run_command({"sweep", sweep_file(), "--store", scratch_ / "store", "--restart", "-o", database()});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(sweep_rows(database()), whole());
  }
}

TEST_F(Sweeps, KilledAtAnyPointNothingIsLost) {
  constexpr int kKills = 24;
  std::uint64_t kept = 0;
  int killed = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    Process process(program({"--threads", "2"}));
    // From before the database is made to when all is done: every instant has its turn.
    const auto until = std::chrono::milliseconds(split_mix(8, static_cast<std::uint64_t>(kill)) % 400);
    std::this_thread::sleep_for(until);
    process.signal(SIGKILL);
    killed += process.wait().code == 128 + SIGKILL ? 1 : 0;
    const std::uint64_t rows = row_count(database());
    EXPECT_GE(rows, kept) << "what was committed stays";
    kept = rows;
    if (kept == kSweepRuns) {
      std::filesystem::remove(database());
      kept = 0;
    }
  }
  EXPECT_GE(killed, 10);
  const Outcome outcome = run_command(arguments());
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
}

TEST_F(Sweeps, CtrlCKeepsWhatIsFinished) {
  RunOptions options;
  options.interrupt_when = [&] { return row_count(database()) > 0; };
  const std::string file = slow_file();
  const Outcome stopped = run_command({"sweep", file, "--store", "none", "-o", database(), "--threads", "1"}, options);
  ASSERT_NE(stopped.code, 0) << "all was done before the first commit was seen: make the sweep longer";
  EXPECT_EQ(stopped.code, 130) << stopped.errors;
  EXPECT_THAT(stopped.errors, HasSubstr("the same command goes on"));
  EXPECT_GT(row_count(database()), 0U);
  EXPECT_LT(row_count(database()), kSweepRuns);
  const std::string whole = scratch_ / "whole.db";
  for (const std::string& to : {database(), whole}) {
    const Outcome outcome = run_command({"sweep", file, "--store", "none", "-o", to});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
  }
  EXPECT_EQ(sweep_rows(database()), sweep_rows(whole));
}

TEST_F(Sweeps, OneDatabaseIsWrittenByOne) {
  const std::string file = slow_file();
  Process first({RAYREPLAY_COMMAND, "sweep", file, "--store", "none", "-o", database(), "--threads", "1"});
  ASSERT_TRUE(first.wait_until([&] { return row_count(database()) > 0; }));
  first.signal(SIGSTOP);
  const Outcome second = run_command({"sweep", file, "--store", "none", "-o", database()});
  first.signal(SIGCONT);
  EXPECT_EQ(second.code, 4) << second.errors;
  EXPECT_THAT(second.errors, HasSubstr(std::to_string(first.pid())));
  const Outcome outcome = first.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(row_count(database()), kSweepRuns);
}

TEST_F(Sweeps, AnotherSweepsDatabaseIsLeftAlone) {
  ASSERT_EQ(run_command(arguments({"--stop-after", "3"})).code, 0);
  const std::string file = write_text(scratch_ / "other.toml", sweep_with("degree=5", "degree=4"));
  const Outcome refused = run_command({"sweep", file, "--store", "none", "-o", database()});
  EXPECT_EQ(refused.code, 2) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("--restart"));
  EXPECT_EQ(row_count(database()), 3U);
}

TEST_F(Sweeps, AFullDiskLosesNothing) {
  ASSERT_EQ(run_command(arguments({"--stop-after", "5"})).code, 0);
  RunOptions options;
  options.max_file_bytes = std::filesystem::file_size(database()) + 4096;
  const Outcome full = run_command(arguments(), options);
  EXPECT_EQ(full.code, 4) << full.errors;
  EXPECT_THAT(full.errors, HasSubstr("s.db"));
  EXPECT_GE(row_count(database()), 5U);
  const Outcome outcome = run_command(arguments());
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(sweep_rows(database()), whole());
}

TEST_F(Sweeps, ShardsMergedInAnyOrderAreTheWhole) {
  std::vector<std::string> merge{"merge", "-o", scratch_ / "all.db"};
  for (const int shard : {3, 1, 2}) {
    const std::string file = scratch_ / (std::to_string(shard) + ".db");
    const Outcome outcome =
        run_command({"sweep", sweep_file(), "--store", "none", "--shard", std::to_string(shard) + "/3", "-o", file});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_GT(row_count(file), 0U);
    EXPECT_LT(row_count(file), kSweepRuns);
    if (shard != 2) {
      merge.push_back(file);
    }
  }
  const Outcome some = run_command(merge);
  EXPECT_EQ(some.code, 0) << some.errors;
  EXPECT_THAT(some.errors, HasSubstr("missing"));
  const Outcome all = run_command({"merge", scratch_ / "2.db", "-o", scratch_ / "all.db"});
  EXPECT_EQ(all.code, 0) << all.errors;
  EXPECT_THAT(all.errors, testing::Not(HasSubstr("missing")));
  EXPECT_EQ(sweep_rows(scratch_ / "all.db"), whole());
  // Rows that are there already are read, and do not become more.
  const Outcome again = run_command({"merge", scratch_ / "2.db", "-o", scratch_ / "all.db"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr(std::to_string(kSweepRuns) + " rows are in " + (scratch_ / "all.db") + "; " +
                                      std::to_string(row_count(scratch_ / "2.db")) + " were read from 1 database\n"));
}

TEST_F(Sweeps, ShardsAtOnceShareAFolderAndAStore) {
  // Two machines that see the same disk: databases side by side, one store.
  const std::string file = write_text(scratch_ / "s.toml", kSweep);
  const auto shard = [&](const std::string& part) {
    return std::vector<std::string>{RAYREPLAY_COMMAND, "sweep", file,      "--store", scratch_ / "store",
                                    "--threads",       "1",     "--shard", part};
  };
  Process first(shard("1/2"));
  Process second(shard("2/2"));
  for (Process* one : {&first, &second}) {
    const Outcome outcome = one->wait();
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
  }
  const Outcome merged =
      run_command({"merge", "-o", scratch_ / "s.db", scratch_ / "s.1of2.db", scratch_ / "s.2of2.db"});
  EXPECT_EQ(merged.code, 0) << merged.errors;
  EXPECT_THAT(merged.errors, testing::Not(HasSubstr("missing")));
  EXPECT_EQ(sweep_rows(scratch_ / "s.db"), whole());
}

TEST_F(Sweeps, QuestionsAreAnsweredWhileItRuns) {
  const std::string file = slow_file();
  std::size_t seen = 1;
  const auto ask = [&] {
    const Outcome outcome = run_command({"results", database(), "--format", "json"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    const std::size_t rows = nlohmann::json::parse(outcome.output).at("rows").size();
    EXPECT_GE(rows, seen);
    seen = rows;
  };
  Process sweep({RAYREPLAY_COMMAND, "sweep", file, "--store", "none", "-o", database(), "--threads", "1"});
  ASSERT_TRUE(sweep.wait_until([&] { return row_count(database()) > 0; }));
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(sweep.ended()) << "all was done before it was asked: make the sweep longer";
    ask();
  }
  sweep.signal(SIGKILL);
  EXPECT_EQ(sweep.wait().code, 128 + SIGKILL);
  ask();
}

TEST_F(Sweeps, FoldersWhereFilesAreExpected) {
  const std::string folder = scratch_ / "folder";
  std::filesystem::create_directory(folder);
  const auto fails = [&](const std::vector<std::string>& words, int code, const std::string& text) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr(folder), HasSubstr(text)));
  };
  fails({"sweep", folder}, 3, "a folder");
  fails({"sweep", sweep_file(), "--store", "none", "-o", folder}, 4, "a folder");
  fails({"results", folder}, 3, "found a folder");
  fails({"merge", folder, "-o", scratch_ / "all.db"}, 3, "found a folder");
  fails({"run", folder}, 3, "a folder");
  fails({"run", "--set", "trace=" + folder, "--store", "none"}, 3, "a folder");
  fails({"sweep", write_text(scratch_ / "b.toml", "base = \"folder\"\n[axes]\n\"machine.sms\" = [1, 2]\n")}, 3,
        "cannot be read");
  EXPECT_EQ(scratch_.names(), (std::vector<std::string>{"b.toml", "folder"}));
}

TEST_F(Sweeps, AStoreThatCannotBeMade) {
  // Something else where the folder should be, or on the way to it: the command line is wrong.
  for (const std::string& store : {sweep_file(), sweep_file() + "/below"}) {
    const Outcome outcome = run_command({"sweep", sweep_file(), "--store", store, "-o", database()});
    EXPECT_EQ(outcome.code, 4) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr(store), HasSubstr("--store none")));
    EXPECT_FALSE(std::filesystem::exists(database()));
  }
  // A disk that cannot be written: the sweep goes on without.
  const Outcome outcome =
      run_command({"sweep", sweep_file(), "--store", "/proc/none", "-o", database(), "--stop-after", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr("nothing is kept"), HasSubstr("/proc/none")));
  EXPECT_GE(row_count(database()), 2U);
}

TEST_F(Sweeps, DatabasesOfTwoSweepsAreNotMerged) {
  const std::string file = write_text(scratch_ / "other.toml", sweep_with("degree=5", "degree=4"));
  ASSERT_EQ(run_command({"sweep", file, "--store", "none", "--stop-after", "2"}).code, 0);
  const Outcome outcome = run_command({"merge", scratch_ / "other.db", *made_ / "whole.db", "-o", scratch_ / "all.db"});
  EXPECT_EQ(outcome.code, 2) << outcome.errors;
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "all.db"));
}

TEST_F(Sweeps, WhatDoesNotFitIntoMemoryIsAnErrorRow) {
  const std::string file = write_text(scratch_ / "large.toml", sweep_with("warps=4000", "warps=9000"));
  const Outcome outcome =
      run_command({"sweep", file, "--store", "none", "--memory", "1KiB", "--stop-after", "4", "-o", database()});
  EXPECT_EQ(outcome.code, 1) << "all failed: " << outcome.errors;
  EXPECT_THAT(outcome.errors,
              testing::AllOf(HasSubstr("4 failed"), HasSubstr("--errors"), HasSubstr("--retry-errors")));
  const sweep::ResultsReader reader(database());
  EXPECT_EQ(reader.failures(), 4U);
  EXPECT_THAT(sweep::to_text(reader.select({"error"}).rows.at(0).at(0)), HasSubstr("--memory"));
}

TEST_F(Sweeps, ASignalGivesItsOwnExitCode) {
  const std::string file = slow_file();
  for (const int number : {SIGTERM, SIGHUP}) {
    std::filesystem::remove(database());
    Process process({RAYREPLAY_COMMAND, "sweep", file, "--store", "none", "-o", database(), "--threads", "1"});
    ASSERT_TRUE(process.wait_until([&] { return row_count(database()) > 0; }));
    process.signal(number);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code, 128 + number) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("the same command goes on"));
  }
}

TEST_F(Sweeps, TheEndTellsTheBestOfAll) {
  const Outcome part = run_command(arguments({"--stop-after", "40"}));
  ASSERT_EQ(part.code, 0) << part.errors;
  const Outcome rest = run_command(arguments());
  const Outcome nothing = run_command(arguments());
  const auto best = [](const Outcome& outcome) {
    const std::size_t at = outcome.errors.find("best simt_efficiency so far");
    return at == std::string::npos ? outcome.errors : outcome.errors.substr(at, outcome.errors.find('\n', at) - at);
  };
  EXPECT_THAT(best(rest), HasSubstr("(run "));
  EXPECT_EQ(best(rest), best(nothing));
}

TEST_F(Sweeps, ResultsGoToFilesOnly) {
  const Outcome device = run_command({"sweep", sweep_file(), "--store", "none", "-o", "/dev/null"});
  EXPECT_EQ(device.code, 4) << device.errors;
  EXPECT_THAT(device.errors, HasSubstr("device"));
  const Outcome unnamed = run_command({"sweep", "/dev/null", "--store", "none"});
  EXPECT_EQ(unnamed.code, 2) << unnamed.errors;
  EXPECT_THAT(unnamed.errors, HasSubstr("-o"));
}

TEST_F(Sweeps, AForecastStartsNothing) {
  const Outcome outcome = run_command(arguments({"--dry-run", "--format", "json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const nlohmann::json document = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(document.at("runs"), kSweepRuns);
  EXPECT_EQ(document.at("runs_finished"), 0);
  EXPECT_GT(document.at("run_memory_bytes"), 0);
  EXPECT_GT(document.at("stages").size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_THAT(run_command(arguments({"--dry-run"})).output, HasSubstr("48"));
  const Outcome config = run_command(arguments({"--print-config", "--set", "default_cost=7"}));
  EXPECT_EQ(config.code, 0) << config.errors;
  EXPECT_THAT(config.output, HasSubstr("default_cost = 7"));
}

TEST_F(Sweeps, ALargeSweepNeedsYes) {
  std::string text(kSweep);
  text += "default_cost = { from = 1, to = 250, step = 1 }\n";
  const std::string file = write_text(scratch_ / "large.toml", text);
  const Outcome refused = run_command({"sweep", file, "--store", "none", "-o", database()});
  EXPECT_EQ(refused.code, 2) << refused.errors;
  EXPECT_THAT(refused.errors, testing::AllOf(HasSubstr("12,000"), HasSubstr("--yes")));
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_EQ(run_command({"sweep", file, "--store", "none", "-o", database(), "--yes", "--stop-after", "2"}).code, 0);
}

TEST_F(Sweeps, WrongOptionsAreNamed) {
  for (const auto& [option, value] : std::multimap<std::string, std::string>{{"--stop-after", "0"},
                                                                             {"--stop-after", "-1"},
                                                                             {"--seconds", "0"},
                                                                             {"--seconds", "nan"},
                                                                             {"--seconds", "-1"},
                                                                             {"--shard", "3/2"},
                                                                             {"--set", "packing=identity"},
                                                                             {"--memory", "much"},
                                                                             {"--store-size", "0"}}) {
    const Outcome outcome = run_command(arguments({option, value}));
    EXPECT_EQ(outcome.code, 2) << option << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(option));
  }
  const Outcome outcome = run_command({"sweep", scratch_ / "none.toml"});
  EXPECT_EQ(outcome.code, 3) << outcome.errors;
}

class SweepOfTraces : public SmallTrace {
 protected:
  void SetUp() override {
    std::filesystem::copy(trace(), scratch_ / "t.rrt");
  }
  [[nodiscard]] std::string sweep_of(const std::string& base, const std::string& axes) const {
    return write_text(scratch_ / "s.toml", "[experiment]\noutputs = \"simt\"\n" + base + "\n[axes]\n" + axes + "\n");
  }
};

TEST_F(SweepOfTraces, AFileThatIsNotThereFailsItsRunsAlone) {
  const std::string file = sweep_of("", R"(trace = ["t.rrt", "none.rrt"]
packing = ["identity", "random:seed=1"])");
  const Outcome outcome = run_command({"sweep", file, "--store", "none"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("2 failed"));
  {
    const sweep::ResultsReader reader(scratch_ / "s.db");
    EXPECT_EQ(reader.count(), 4U);
    EXPECT_EQ(reader.failures(), 2U);
  }
  const Outcome finished = run_command({"sweep", file, "--store", "none"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.errors, testing::AllOf(HasSubstr("2 failed"), HasSubstr("--errors")));
  std::filesystem::copy(trace(), scratch_ / "none.rrt");
  const Outcome again = run_command({"sweep", file, "--store", "none"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(sweep::ResultsReader(scratch_ / "s.db").failures(), 0U);
}

// Contradictions of every configuration, or of every one with a value of an axis, are errors before the work.
TEST_F(SweepOfTraces, ContradictionsAreOneErrorBeforeTheSweep) {
  ASSERT_EQ(run_command({"cache", trace(), "--export", scratch_ / "m.rrm", "--sms", "4"}).code, 0);
  const auto refused = [&](const std::string& base, const std::string& axes, int code, const std::string& says) {
    const std::string file = sweep_of(base, axes);
    for (const char* more : {"--yes", "--dry-run"}) {
      const Outcome outcome = run_command({"sweep", file, "--store", "none", more});
      EXPECT_EQ(outcome.code, code) << outcome.errors;
      EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr("rayreplay: error: "), HasSubstr(says)));
      EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
    }
    EXPECT_FALSE(std::filesystem::exists(scratch_ / "s.db"));
  };
  const std::string packings = "packing = [\"identity\", \"random:seed=1\"]";
  refused("trace = \"t.rrt\"\nmachine.rt_boxes_per_cycle = 2.0", packings, 2, "machine.rt_triangles_per_cycle too");
  refused("trace = \"t.rrt\"", "\"machine.rt_boxes_per_cycle\" = [0.0, 2.0]\n" + packings, 2,
          "s.toml:5, machine.rt_boxes_per_cycle: only one of the rates");
  refused("trace = \"t.rrt\"", "\"machine.rt_boxes_per_cycle\" = { from = 1.0, to = 2.0, count = 3 }", 2,
          "only one of the rates");
  refused("trace = \"t.rrt\"\nscheduler.file = \"none.h5\"", "outputs = [\"cache\"]\n\"machine.sms\" = [2, 4]", 3,
          "none.h5");
  refused("trace = \"m.rrm\"\nschedule.time = \"memory\"", "outputs = [\"cache\"]\n\"cache.l1.ways\" = [1, 4]", 2,
          "a memory trace has no warps whose time could be modelled");
  refused("trace = \"t.rrt\"", "outputs = [\"simt\", \"time\"]", 2, "the output time needs memory time");
  refused("trace = \"none.rrt\"", packings, 3, "none.rrt");
}

// Combinations of models and parameters that do not exist are rows, as are values that other combinations take.
TEST_F(SweepOfTraces, WhatSomeCombinationsCannotBeIsARow) {
  const std::string file = sweep_of("trace = \"t.rrt\"", R"(packing = ["identity", "random"]
"packing:seed" = [1, 2])");
  const Outcome outcome = run_command({"sweep", file, "--store", "none"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("2 failed"));
  const std::string rates = write_text(scratch_ / "r.toml", R"([experiment]
trace = "t.rrt"
outputs = "simt"
[axes]
"machine.rt_boxes_per_cycle" = [0.0, 2.0]
"machine.rt_triangles_per_cycle" = [0.0, 1.0]
)");
  const Outcome both = run_command({"sweep", rates, "--store", "none"});
  EXPECT_EQ(both.code, 0) << both.errors;
  EXPECT_THAT(both.errors, HasSubstr("2 failed"));
}

TEST_F(SweepOfTraces, TheDatabaseIsNoInputAndHasAFolder) {
  const std::string file = sweep_of("trace = \"t.rrt\"", "packing = [\"identity\"]");
  const auto refused = [&](const std::string& output, int code, const std::string& says) {
    const Outcome outcome = run_command({"sweep", file, "--store", "none", "-o", output});
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(says));
  };
  refused(file, 2, "--output and SWEEP: the output is also an input");
  refused(scratch_ / "t.rrt", 2, "--output and trace: the output is also an input");
  refused(scratch_ / "no/x.db", 4, "no: the output's folder does not exist");
  refused(file + "/x.db", 4, "s.toml: the output's folder is a file");
  EXPECT_THAT(read_bytes(file), HasSubstr("[experiment]"));
  EXPECT_EQ(scratch_.names(), (std::vector<std::string>{"s.toml", "t.rrt"}));
}

TEST_F(SweepOfTraces, ATraceThatChangedIsNamed) {
  const std::string file = sweep_of("trace = \"t.rrt\"", R"(packing = ["identity", "random:seed=1", "random:seed=2"])");
  ASSERT_EQ(run_command({"sweep", file, "--store", "none", "--stop-after", "1"}).code, 0);
  ASSERT_EQ(run_command({"trace", "--scene", "one-weekend", "--size", "32x32", "--spp", "1", "--force", "-o",
                         scratch_ / "t.rrt"})
                .code,
            0);
  const Outcome outcome = run_command({"sweep", file, "--store", "none"});
  EXPECT_EQ(outcome.code, 3) << outcome.errors;
  EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr("t.rrt"), HasSubstr("--restart")));
  EXPECT_EQ(row_count(scratch_ / "s.db"), 1U);
}

TEST_F(SweepOfTraces, TheTableNamesFilesAsTheSweepDoes) {
  const std::string file = sweep_of("trace = \"t.rrt\"", R"(order = ["linear", "captured"])");
  const std::string other = std::filesystem::relative(file).string();
  ASSERT_EQ(run_command({"sweep", file, "--store", "none", "-o", scratch_ / "a.db"}).code, 0);
  ASSERT_EQ(run_command({"sweep", other, "--store", "none", "-o", scratch_ / "b.db"}).code, 0);
  const auto rows = sweep_rows(scratch_ / "a.db");
  EXPECT_EQ(sweep_rows(scratch_ / "b.db"), rows);
  for (const auto& row : rows) {
    EXPECT_THAT(row, testing::Not(testing::Contains(HasSubstr(scratch_ / ""))));
  }
  ASSERT_EQ(run_command({"merge", "-o", scratch_ / "c.db", scratch_ / "a.db", scratch_ / "b.db"}).code, 0);
  const Outcome outcome = run_command({"results", scratch_ / "b.db", "--config", "0"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("trace = \"" + (scratch_ / "t.rrt") + "\""));
}

}  // namespace
}  // namespace rayreplay::test
