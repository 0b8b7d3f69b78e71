#include "sim/sweep/workers/runner.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/machine.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "tests/sweep-workers/synthetic_sweep.hpp"

namespace rayreplay::sweep::test {
namespace {

using rayreplay::test::TemporaryFolder;
using std::chrono::milliseconds;

class Runner : public testing::Test {
 protected:
  SweepReport run(const Plan& plan, MadeUp& made_up, RunnerOptions options = {}, const std::string& name = "s.db") {
    ResultsWriter results(folder_ / name, about_of(plan, shard_), false);
    return run_sweep(plan, made_up.work(), results, options);
  }
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& name = "s.db") const {
    return rows_of(folder_ / name);
  }
  /// Of an undisturbed run.
  std::vector<std::vector<std::string>> undisturbed(const Plan& plan) {
    MadeUp made_up;
    RunnerOptions options;
    options.threads = 1;
    run(plan, made_up, std::move(options), "undisturbed.db");
    return rows("undisturbed.db");
  }

  TemporaryFolder folder_;
  std::string shard_ = "1/1";
};

TEST_F(Runner, EveryRunIsARowWhateverTheThreads) {
  const Plan plan = small_plan();
  const auto expected = undisturbed(plan);
  EXPECT_EQ(expected.size(), 24U);
  for (const std::uint32_t threads : {2U, 8U}) {
    MadeUp made_up;
    RunnerOptions options;
    options.threads = threads;
    const std::string name = fmt::format("{}.db", threads);
    const SweepReport report = run(plan, made_up, std::move(options), name);
    EXPECT_EQ(report.end, SweepEnd::Finished);
    EXPECT_EQ(report.standing.done, 24U);
    EXPECT_EQ(report.standing.failed, 0U);
    EXPECT_EQ(made_up.evaluated, 24U);
    EXPECT_EQ(rows(name), expected);
  }
}

/// Whether it comes within a few seconds: a test that waits for ever tells nothing.
bool comes(const std::atomic<bool>& sign) {
  constexpr int kTries = 5000;
  for (int i = 0; i < kTries && !sign; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return sign;
}

TEST_F(Runner, FinishedRowsAreCommittedWhileTheLastUnitRuns) {
  const Plan plan = small_plan();
  MadeUp made_up;
  std::uint64_t committed = 0;
  made_up.before = [&](const experiment::Settings&, Progress*) {
    constexpr int kTries = 1000;
    for (int i = 0; made_up.evaluated == 23 && committed < 22 && i < kTries; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      try {
        committed = ResultsReader(folder_ / "s.db").count();
      } catch (const Error&) {  // not created yet
      }
    }
  };
  RunnerOptions options;
  options.threads = 1;
  run(plan, made_up, std::move(options));
  EXPECT_GE(committed, 22U);  // the 23rd may follow within a second
}

TEST_F(Runner, UnitsBeginWhileInputsAreLookedAt) {
  const Plan plan = small_plan();
  std::atomic<bool> begun = false;
  MadeUp made_up;
  made_up.before = [&](const experiment::Settings&, Progress*) { begun = true; };
  Work work = made_up.work();
  bool seen = false;
  work.input_hash = [&](const experiment::Settings&) {
    seen = comes(begun);
    return made_up.trace_hash;
  };
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  RunnerOptions options;
  options.threads = 2;
  EXPECT_EQ(run_sweep(plan, work, results, options).standing.done, 24U);
  EXPECT_TRUE(seen);
}

TEST_F(Runner, NoRowIsTakenBeforeTheInputsAreKnown) {
  const Plan plan = small_plan();
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    results.check_input({"t.rrt", "another content"});
  }
  MadeUp made_up;
  Work work = made_up.work();
  work.input_hash = [&](const experiment::Settings&) { return made_up.trace_hash; };
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    RunnerOptions options;
    options.threads = 2;
    EXPECT_THROW(static_cast<void>(run_sweep(plan, work, results, options)), Error);
  }
  EXPECT_TRUE(rows().empty());
}

TEST_F(Runner, TellsTheBest) {
  const Plan plan = small_plan("objective = \"more simt_efficiency\"\n");
  MadeUp made_up;
  RunnerOptions options;
  std::uint64_t shown = 0;
  options.show = [&](const Standing& standing) { shown = standing.done; };
  const SweepReport report = run(plan, made_up, std::move(options));
  ASSERT_TRUE(report.standing.has_best);
  EXPECT_EQ(report.standing.best, 4.0);
  EXPECT_EQ(test::made_up(experiment::complete(plan.settings(report.standing.best_run))), 4.0);
  EXPECT_EQ(shown, 24U);
}

TEST_F(Runner, TheBestIsOfAllRowsThatAreThere) {
  const Plan plan = small_plan("objective = \"more simt_efficiency\"\n");
  MadeUp made_up;
  const SweepReport whole = run(plan, made_up);
  const SweepReport again = run(plan, made_up);
  EXPECT_EQ(made_up.evaluated, 24U) << "nothing was left to do";
  ASSERT_TRUE(again.standing.has_best);
  EXPECT_EQ(again.standing.best, whole.standing.best);
  EXPECT_EQ(again.standing.best_run, whole.standing.best_run);
  std::uint64_t best_run = 0;
  for (int part = 0; part < 4; ++part) {
    RunnerOptions options;
    options.most_now = 7;
    best_run = run(plan, made_up, std::move(options), "parts.db").standing.best_run;
  }
  EXPECT_EQ(best_run, whole.standing.best_run);
}

TEST_F(Runner, ATraceThatIsReplacedMeanwhileEndsTheSweep) {
  const Plan plan = small_plan();
  MadeUp made_up;
  made_up.trace_hash = "0123";
  made_up.before = [&](const experiment::Settings&, Progress*) {
    if (made_up.evaluated == 10) {
      made_up.trace_hash = "4567";
    }
  };
  Work work = made_up.work();
  work.input_hash = [](const experiment::Settings&) { return "0123"; };
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    RunnerOptions options;
    options.threads = 1;
    try {
      static_cast<void>(run_sweep(plan, work, results, options));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("t.rrt"), testing::HasSubstr("hash 0123"),
                                               testing::HasSubstr("hash 4567"), testing::HasSubstr("--restart")));
    }
  }
  const ResultsReader reader(folder_ / "s.db");
  EXPECT_EQ(reader.count(), reader.count("trace_hash = '0123'"));
  EXPECT_GE(reader.count(), 8U);
}

TEST_F(Runner, GoesOnWhereItWas) {
  const Plan plan = small_plan();
  const auto expected = undisturbed(plan);
  std::uint64_t evaluated = 0;
  for (int part = 0; part < 4; ++part) {
    MadeUp made_up;
    RunnerOptions options;
    options.most_now = 7;
    const SweepReport report = run(plan, made_up, std::move(options));
    EXPECT_EQ(report.end, part < 3 ? SweepEnd::CountReached : SweepEnd::Finished);
    evaluated += made_up.evaluated;
  }
  EXPECT_EQ(evaluated, 24U) << "no run twice";
  EXPECT_EQ(rows(), expected);
  MadeUp made_up;
  EXPECT_EQ(run(plan, made_up).standing.done, 24U);
  EXPECT_EQ(made_up.evaluated, 0U);
}

TEST_F(Runner, StopsByTheDefinitionsCount) {
  const Plan plan = small_plan("[stop]\nruns = 5\n");
  MadeUp made_up;
  const SweepReport report = run(plan, made_up);
  EXPECT_EQ(report.standing.total, std::min<std::uint64_t>(5, plan.runs()));
  EXPECT_EQ(made_up.evaluated, 5U);
}

TEST_F(Runner, AFailureIsARowAndCanBeTriedAgain) {
  const Plan plan = small_plan();
  const auto expected = undisturbed(plan);
  MadeUp made_up;
  Work work = made_up.work();
  const auto evaluate = work.evaluate;
  work.evaluate = [&](std::span<const experiment::Settings> complete, Accelerator* accelerator, Progress* progress) {
    auto outcomes = evaluate(complete, accelerator, progress);
    for (std::size_t i = 0; i < complete.size(); ++i) {
      if (complete[i].integer("default_cost") == 3) {
        outcomes[i] = {};
        outcomes[i].failure = experiment::Failure{ErrorKind::Missing, {"no such thing", "", "", "", ""}};
      }
    }
    return outcomes;
  };
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    RunnerOptions options;
    const SweepReport report = run_sweep(plan, work, results, options);
    EXPECT_EQ(report.end, SweepEnd::Finished);
    EXPECT_EQ(report.standing.failed, 4U);
    EXPECT_EQ(report.standing.done, 24U);
  }
  EXPECT_EQ(ResultsReader(folder_ / "s.db").failures(), 4U);
  MadeUp again;
  EXPECT_EQ(run(plan, again).standing.done, 24U);
  EXPECT_EQ(again.evaluated, 0U) << "a failure is a result";
  RunnerOptions options;
  options.retry_errors = true;
  run(plan, again, std::move(options));
  EXPECT_EQ(again.evaluated, 4U);
  EXPECT_EQ(rows(), expected);
}

TEST_F(Runner, AFaultOfTheProgramEndsTheSweepAfterWhatIsFinished) {
  const Plan plan = small_plan();
  MadeUp made_up;
  made_up.before = [&](const experiment::Settings& settings, Progress*) {
    if (settings.text("packing").find("seed=3") != std::string::npos && settings.integer("default_cost") == 6) {
      throw Error(ErrorKind::Internal, {"broken", "", "", "", ""});
    }
  };
  RunnerOptions options;
  options.threads = 1;
  EXPECT_THROW(run(plan, made_up, std::move(options)), Error);
  EXPECT_GE(rows().size(), 20U);
  EXPECT_LT(rows().size(), 24U);
  MadeUp sound;
  run(plan, sound);
  EXPECT_EQ(rows(), undisturbed(plan));
}

TEST_F(Runner, AStopLosesOnlyWhatIsUnderWay) {
  const Plan plan = small_plan();
  const auto expected = undisturbed(plan);
  std::uint64_t evaluated = 0;
  for (int stops = 0; stops < 100; ++stops) {
    MadeUp made_up;
    made_up.takes = milliseconds(5);
    RunnerOptions options;
    options.threads = 2;
    options.stop_requested = [&] { return made_up.evaluated >= 3; };
    const SweepReport report = run(plan, made_up, std::move(options));
    EXPECT_FALSE(report.abandoned);
    evaluated += made_up.evaluated;
    if (report.end == SweepEnd::Finished) {
      break;
    }
    EXPECT_EQ(report.end, SweepEnd::Stopped);
  }
  EXPECT_EQ(evaluated, 24U) << "units under way were waited for";
  EXPECT_EQ(rows(), expected);
}

TEST_F(Runner, AUnitThatTakesTooLongIsCancelled) {
  const Plan plan = small_plan();
  MadeUp made_up;
  std::atomic<bool> entered{false};
  made_up.before = [&](const experiment::Settings&, Progress* progress) {
    entered = true;
    for (;;) {
      progress->advance(1);
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  RunnerOptions options;
  options.threads = 2;
  options.grace_seconds = 0;
  options.stop_requested = [&] { return entered.load(); };
  const SweepReport report = run(plan, made_up, std::move(options));
  EXPECT_EQ(report.end, SweepEnd::Stopped);
  EXPECT_FALSE(report.abandoned);
  EXPECT_EQ(report.standing.done, 0U);
}

TEST_F(Runner, TheTimeCanBeOver) {
  const Plan plan = small_plan("[stop]\nseconds = 0.05\n");
  MadeUp made_up;
  made_up.takes = milliseconds(20);
  RunnerOptions options;
  options.threads = 1;
  const SweepReport report = run(plan, made_up, std::move(options));
  EXPECT_EQ(report.end, SweepEnd::TimeOver);
  EXPECT_LT(made_up.evaluated, 24U);
  EXPECT_EQ(rows().size(), made_up.evaluated);
}

/// Costs 4 and more find no room while others run, 6 finds none at all.
Work short_of_memory(MadeUp& made_up, std::atomic<int>& alone) {
  Work work = made_up.work();
  work.evaluate = [&made_up, &alone, evaluate = work.evaluate](std::span<const experiment::Settings> complete,
                                                               Accelerator* accelerator, Progress* progress) {
    const bool by_itself = complete.size() == 1 && made_up.under_way == 0;
    auto outcomes = evaluate(complete, accelerator, progress);
    for (std::size_t i = 0; i < complete.size(); ++i) {
      const std::int64_t cost = complete[i].integer("default_cost");
      if (cost == 6 || (cost >= 4 && !by_itself)) {
        outcomes[i] = {};
        outcomes[i].failure = experiment::Failure{ErrorKind::Resource, {"no room", "", "", "", ""}, 3U << 20U};
      } else if (cost >= 4) {
        ++alone;
      }
    }
    return outcomes;
  };
  return work;
}

TEST_F(Runner, WhatFindsNoRoomBesideOthersIsDoneAlone) {
  const Plan plan = small_plan("", 2);
  MadeUp made_up;
  made_up.takes = milliseconds(1);
  std::atomic<int> alone = 0;
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  RunnerOptions options;
  options.threads = 4;
  options.memory_bytes = 1U << 20U;
  const SweepReport report = run_sweep(plan, short_of_memory(made_up, alone), results, options);
  EXPECT_EQ(report.end, SweepEnd::Finished);
  EXPECT_EQ(report.standing.done, 24U);
  EXPECT_EQ(report.standing.failed, 4U) << "cost 6";
  EXPECT_EQ(alone, 2 * 4) << "costs 4 and 5";
  const ResultsReader reader(folder_ / "s.db");
  EXPECT_EQ(reader.retries(), 4U);
  for (const auto& row : reader.select({"error"}, "error IS NOT NULL").rows) {
    EXPECT_NE(to_text(row[0]).find("at least 3.0 MiB"), std::string::npos) << to_text(row[0]);
  }
}

TEST_F(Runner, WhatFailedForWantOfMemoryIsTriedAgain) {
  const Plan plan = small_plan("", 6);
  MadeUp made_up;
  std::atomic<int> alone = 0;
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    RunnerOptions little;
    little.memory_bytes = 1U << 20U;
    EXPECT_EQ(run_sweep(plan, short_of_memory(made_up, alone), results, little).standing.failed, 4U);
  }
  MadeUp again;
  run(plan, again);
  EXPECT_EQ(again.evaluated, 4U);
  EXPECT_EQ(rows(), undisturbed(plan));
}

/// Two find room beside each other, never three.
TEST_F(Runner, UnitsThatFindNoRoomRunFewerSideBySide) {
  const Plan plan = small_plan("", 1);
  MadeUp made_up;
  made_up.takes = milliseconds(3);
  std::atomic<int> without_room = 0;
  Work work = made_up.work();
  work.evaluate = [&, evaluate = work.evaluate](std::span<const experiment::Settings> complete,
                                                Accelerator* accelerator, Progress* progress) {
    const bool room = made_up.under_way < 2;
    auto outcomes = evaluate(complete, accelerator, progress);
    if (!room) {
      ++without_room;
      outcomes[0] = {};
      outcomes[0].failure = experiment::Failure{ErrorKind::Resource, {"no room", "", "", "", ""}, 3U << 20U};
    }
    return outcomes;
  };
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  RunnerOptions options;
  options.threads = 8;
  options.memory_bytes = 1U << 20U;
  const SweepReport report = run_sweep(plan, work, results, options);
  EXPECT_EQ(report.standing.done, 24U);
  EXPECT_EQ(report.standing.failed, 0U);
  EXPECT_GT(without_room, 0) << "otherwise the test shows nothing";
  EXPECT_LT(without_room, 12) << "each of the 24 units but the first few of eight would have failed once";
}

TEST_F(Runner, ShardsMergedAreTheWhole) {
  const Plan plan = small_plan();
  const auto expected = undisturbed(plan);
  std::uint64_t evaluated = 0;
  for (const std::uint32_t shard : {2U, 0U, 1U}) {
    shard_ = fmt::format("{}/3", shard + 1);
    MadeUp made_up;
    RunnerOptions options;
    options.shard = shard;
    options.shards = 3;
    EXPECT_EQ(run(plan, made_up, std::move(options), fmt::format("{}.db", shard)).end, SweepEnd::Finished);
    EXPECT_GT(made_up.evaluated, 0U);
    evaluated += made_up.evaluated;
  }
  EXPECT_EQ(evaluated, 24U);
  {
    ResultsWriter all(folder_ / "all.db", about_of(plan), false);
    for (const char* name : {"1.db", "0.db", "2.db"}) {
      all.merge(folder_ / name);
    }
  }
  EXPECT_EQ(rows("all.db"), expected);
}

TEST_F(Runner, AnInputThatChangedIsNamed) {
  const Plan plan = small_plan();
  MadeUp made_up;
  std::string hash = "0123";
  made_up.trace_hash = hash;
  Work work = made_up.work();
  work.input_hash = [&](const experiment::Settings&) { return hash; };
  RunnerOptions options;
  options.most_now = 5;
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    static_cast<void>(run_sweep(plan, work, results, options));
  }
  hash = "4567";
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  try {
    static_cast<void>(run_sweep(plan, work, results, options));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("t.rrt"), testing::HasSubstr("0123"), testing::HasSubstr("4567")));
  }
  // Units may have begun meanwhile; none of their rows is taken.
  const std::vector<bool> finished = results.finished(false);
  EXPECT_EQ(std::ranges::count(finished, true), 5);
}

TEST_F(Runner, InputsThatCannotBeReadEndASweepWithoutOthers) {
  const Plan plan = small_plan();
  MadeUp made_up;
  Work work = made_up.work();
  work.input_hash = [](const experiment::Settings&) -> std::string {
    throw Error(ErrorKind::Input, {"there is no such file", "t.rrt", "", "", ""});
  };
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  RunnerOptions options;
  EXPECT_THROW(static_cast<void>(run_sweep(plan, work, results, options)), Error);
  const std::vector<bool> finished = results.finished(false);
  EXPECT_EQ(std::ranges::count(finished, true), 0);
}

TEST_F(Runner, EveryFileThatIsReadIsAnInput) {
  const std::string folder = folder_.path().string();
  std::filesystem::create_directories(folder + "/below");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  const std::string machine = machine::to_toml(machine::load_machine("rtx4090"));
  write("mm.toml", machine);
  write("below/h.bin", "two");
  write("k.bin", "three");
  const auto plan = [&] {
    return Plan(parse_sweep(R"(
where = ["machine.sms > 50"]
[experiment]
trace = "t.rrt"
"machine.name" = "mm.toml"
[axes]
"scheduler.hint_files" = ["a:1=below/h.bin", "a:1=k.bin", "a:1=none.bin"]
)",
                            folder + "/s.toml", folder));
  };
  MadeUp made_up;
  Work work = made_up.work();
  work.input_hash = [](const experiment::Settings&) { return "00112233445566778899aabbccddeeff"; };
  const auto run_it = [&](const std::string& name) {
    const Plan made = plan();
    ResultsWriter results(folder_ / name, about_of(made), false);
    RunnerOptions options;
    static_cast<void>(run_sweep(made, work, results, options));
  };
  std::vector<std::string> paths;
  for (const InputFile& input : sweep_inputs(plan(), work)) {
    paths.push_back(input.path);
    EXPECT_FALSE(input.hash.empty());
  }
  EXPECT_THAT(paths, testing::UnorderedElementsAre("mm.toml", "below/h.bin", "k.bin", "t.rrt"));
  run_it("s.db");
  run_it("s.db");
  for (const std::string file : {"mm.toml", "k.bin"}) {
    const std::string before = file == "k.bin" ? "three" : machine;
    write(file, "other");
    try {
      run_it("s.db");
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(file), testing::HasSubstr("has changed")));
    }
    run_it("other-" + file + ".db");
    {
      ResultsWriter results(folder_ / "s.db", about_of(plan()), false);
      EXPECT_THROW(results.merge(folder_ / ("other-" + file + ".db")), Error) << file;
    }
    write(file, before);
  }
  run_it("s.db");
}

TEST_F(Runner, WhatIsWrongWithTheFirstRunHidesNoInput) {
  const Plan plan(parse_sweep(R"(
[experiment]
trace = "t.rrt"
[axes]
packing = ["identity", "numrays", "random"]
"packing:seed" = [1, 2]
)",
                              "s.toml", ""));
  MadeUp made_up;
  std::string hash = "00112233445566778899aabbccddeeff";  // as the rows that are made up say
  Work work = made_up.work();
  work.input_hash = [&](const experiment::Settings&) { return hash; };
  RunnerOptions options;
  {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    EXPECT_EQ(run_sweep(plan, work, results, options).standing.done, 6U);
  }
  EXPECT_EQ(made_up.evaluated, 2U);
  hash = "4567";
  ResultsWriter results(folder_ / "s.db", about_of(plan), false);
  EXPECT_THROW(static_cast<void>(run_sweep(plan, work, results, options)), Error);
}

TEST_F(Runner, TheTableDoesNotDependOnHowTheSweepWasNamed) {
  const std::string here = folder_.path().string();
  std::ofstream(here + "/m.toml") << machine::to_toml(machine::load_machine("rtx4090"));
  const auto definition_in = [](const std::string& folder) {
    return parse_sweep(R"(
[experiment]
trace = "below/t.rrt"
"machine.name" = "m.toml"
[axes]
"scheduler.hint_files" = ["a:1=h.bin", "a:1=/data/k.bin"]
"machine.name" = ["m.toml", "h200"]
)",
                       folder.empty() ? "s.toml" : folder + "/s.toml", folder);
  };
  const auto table = [&](const std::string& folder, const std::string& name) {
    const Plan plan(definition_in(folder));
    MadeUp made_up;
    run(plan, made_up, {}, name);
    return rows(name);
  };
  const auto expected = table(std::filesystem::relative(here).string(), "relative.db");
  EXPECT_EQ(table(here, "absolute.db"), expected);
  ASSERT_EQ(expected.size(), 4U);
  for (const auto& row : expected) {
    for (const std::string& cell : row) {
      EXPECT_THAT(cell, testing::Not(testing::HasSubstr(here)));
    }
  }
  EXPECT_EQ(definition_hash(definition_in(here)), definition_hash(definition_in("")));
}

TEST_F(Runner, MoreWorkersThanUnits) {
  const Plan plan = small_plan("", 100);
  MadeUp made_up;
  RunnerOptions options;
  options.threads = 32;
  EXPECT_EQ(run(plan, made_up, std::move(options)).standing.done, 24U);
}

}  // namespace
}  // namespace rayreplay::sweep::test
