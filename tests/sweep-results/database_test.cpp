#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "sim/sweep/results/reader.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/sqlite.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Database : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path file(const std::string& name = "s.db") const {
    return folder_ / name;
  }

 private:
  TemporaryFolder folder_;
};

void expect_error(ErrorKind kind, const ::testing::Matcher<std::string>& text, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(std::string(error.what()), text);
  }
}

/// Runs it in a process of its own; its exit code, 99 for an exception.
int in_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = action();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(Database, HoldsWhatWasAdded) {
  write_made_up(file());
  EXPECT_FALSE(fs::exists(file("s.db-lock")));
  EXPECT_FALSE(fs::exists(file("s.db-journal")));
  const sweep::ResultsReader reader(file());
  EXPECT_EQ(reader.about().runs, kRuns);
  EXPECT_EQ(reader.about().axes, made_up_sweep().axes);
  EXPECT_EQ(reader.about().objective, "more l1_hit_rate");
  EXPECT_EQ(reader.inputs(), (std::vector<sweep::InputFile>{{"t.rrt", "feedfacefeedfacefeedfacefeedface"}}));
  EXPECT_EQ(reader.count(), kRuns);
  EXPECT_EQ(reader.failures(), 1U);
  const sweep::ResultSet rows =
      reader.select({"run", "cache.l1.bytes", "packing", "l1_hit_rate", "warp_size", "error", "machine.name"});
  ASSERT_EQ(rows.rows.size(), kRuns);
  EXPECT_EQ(rows.rows[3][0], sweep::ResultCell(std::int64_t{3}));
  EXPECT_EQ(rows.rows[63][1], sweep::ResultCell(std::int64_t{524288}));
  EXPECT_EQ(rows.rows[3][2], sweep::ResultCell(std::string("random:seed=1")));
  EXPECT_EQ(rows.rows[63][3], sweep::ResultCell(0.2 + 0.08 * 7 + 0.02 * 3));
  EXPECT_EQ(rows.rows[3][4], sweep::ResultCell(std::int64_t{32}));
  EXPECT_EQ(rows.rows[3][6], sweep::ResultCell());  // not set, so not known
  EXPECT_EQ(rows.rows[5][3], sweep::ResultCell());
  EXPECT_THAT(std::get<std::string>(rows.rows[5][5]), HasSubstr("the cache cannot be"));
  EXPECT_EQ(reader.configuration(7), "# run 7\nwarp_size = 32\n");
  const sweep::ResultColumn& bytes = reader.column("cache.l1.bytes", "");
  EXPECT_EQ(bytes.role, sweep::Role::Axis);
  EXPECT_EQ(bytes.unit, "bytes");
  EXPECT_EQ(reader.column("l1_hit_rate", "").goal, experiment::Goal::More);
  EXPECT_EQ(reader.column("machine.name", "").role, sweep::Role::Key);
  EXPECT_EQ(reader.metrics().size(), 4U);
}

TEST_F(Database, OpensInOtherPrograms) {
  write_made_up(file());
  const sweep::Connection plain(file(), sweep::Connection::Mode::Read);
  EXPECT_EQ(plain.number("SELECT count(*) FROM runs WHERE \"cache.l1.ways\" = 8"), 16);
  EXPECT_EQ(plain.number("SELECT count(*) FROM columns WHERE role = 'axis'"), 3);
}

TEST_F(Database, GoesOnWithWhatIsThere) {
  {
    sweep::ResultsWriter writer(file(), made_up_sweep(), false);
    writer.add({made_up_row(0), made_up_row(5)});
  }
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  std::vector<bool> expected(kRuns, false);
  expected[0] = expected[5] = true;
  EXPECT_EQ(writer.finished(false), expected);
  expected[5] = false;
  EXPECT_EQ(writer.finished(true), expected);
  sweep::ResultRow again = made_up_row(5);
  again.outcome.failure.reset();
  again.outcome.metrics = {{"l1_hit_rate", 0.75}};
  writer.add({again});
  expected[5] = true;
  EXPECT_EQ(writer.finished(true), expected);
}

TEST_F(Database, RestartThrowsAway) {
  write_made_up(file());
  {
    sweep::ResultsWriter writer(file(), made_up_sweep(), true);
    EXPECT_EQ(std::ranges::count(writer.finished(false), true), 0);
  }
  std::ofstream(file("notes.txt")) << "my notes";
  expect_error(ErrorKind::Input, HasSubstr("notes.txt"),
               [&] { const sweep::ResultsWriter writer(file("notes.txt"), made_up_sweep(), true); });
  EXPECT_EQ(fs::file_size(file("notes.txt")), 8U);
  EXPECT_FALSE(fs::exists(file("notes.txt-lock")));
}

TEST_F(Database, OtherSweepsAreRefused) {
  write_made_up(file());
  const auto open = [&](const std::function<void(sweep::About&)>& change) {
    sweep::About about = made_up_sweep();
    about.definition_hash = std::string(32, 'b');
    change(about);
    expect_error(ErrorKind::Usage, AllOf(HasSubstr("another sweep"), HasSubstr("--restart")),
                 [&] { const sweep::ResultsWriter writer(file(), about, false); });
    try {
      const sweep::ResultsWriter writer(file(), about, false);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(open([](sweep::About& about) { about.axes.pop_back(); }),
              AllOf(HasSubstr("axes cache.l1.bytes, cache.l1.ways, packing;"),
                    HasSubstr("expected axes cache.l1.bytes, cache.l1.ways)")));
  EXPECT_THAT(open([](sweep::About& about) { about.runs = 65; }), HasSubstr("64 configurations"));
  EXPECT_THAT(open([](sweep::About& about) { about.sweep += "trace = \"other.rrt\"\n"; }), HasSubstr("other.rrt"));
  EXPECT_EQ(sweep::ResultsReader(file()).count(), kRuns);  // nothing was lost
}

TEST_F(Database, ChangedInputsAreRefused) {
  write_made_up(file());
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  writer.check_input({"t.rrt", "feedfacefeedfacefeedfacefeedface"});
  writer.check_input({"new.toml", "1"});
  expect_error(ErrorKind::Input, AllOf(HasSubstr("t.rrt"), HasSubstr("changed since the sweep began")), [&] {
    writer.check_input({"t.rrt", "0"});
  });
  writer.add({made_up_row(1)});  // it still works
}

TEST_F(Database, OneWriterAtATime) {
  const sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  const std::string own = "process " + std::to_string(::getpid());
  expect_error(ErrorKind::Output, AllOf(HasSubstr("another process"), HasSubstr(own)),
               [&] { const sweep::ResultsWriter second(file(), made_up_sweep(), false); });
  // A child has none of its parent's locks: it meets the file's.
  EXPECT_EQ(in_child([&] {
              try {
                const sweep::ResultsWriter second(file(), made_up_sweep(), false);
                return 0;
              } catch (const Error& error) {
                return std::string(error.what()).find(own) != std::string::npos ? 4 : 5;
              }
            }),
            4);
}

TEST_F(Database, LinksLeadToOneLock) {
  fs::create_directory(file("folder"));
  const auto refused = [&](const std::string& name) {
    expect_error(ErrorKind::Output, HasSubstr("another process"),
                 [&] { const sweep::ResultsWriter second(file(name), made_up_sweep(), false); });
  };
  fs::create_symlink("../s.db", file("folder/link.db"));  // before there is anything at its end
  fs::create_symlink(file("folder/link.db"), file("second.db"));
  {
    const sweep::ResultsWriter writer(file("folder/link.db"), made_up_sweep(), false);
    EXPECT_TRUE(fs::exists(file("s.db-lock")));
    refused("s.db");
    refused("second.db");
  }
  {
    const sweep::ResultsWriter anew(file("second.db"), made_up_sweep(), true);
    EXPECT_TRUE(fs::is_symlink(file("second.db")));
    refused("s.db");
  }
  fs::create_hard_link(file(), file("hard.db"));
  for (const char* name : {"s.db", "hard.db"}) {
    expect_error(ErrorKind::Output, HasSubstr("hard links"),
                 [&] { const sweep::ResultsWriter writer(file(name), made_up_sweep(), false); });
  }
  EXPECT_EQ(sweep::ResultsReader(file("hard.db")).count(), 0U);  // reading is no danger
}

TEST_F(Database, DevicesAndFoldersAreRefused) {
  expect_error(ErrorKind::Output, AllOf(HasSubstr("/dev/null"), HasSubstr("device")),
               [&] { const sweep::ResultsWriter writer("/dev/null", made_up_sweep(), true); });
  EXPECT_FALSE(fs::exists("/dev/null-lock"));
  expect_error(ErrorKind::Output, HasSubstr("a folder"),
               [&] { const sweep::ResultsWriter writer(file("."), made_up_sweep(), false); });
}

TEST_F(Database, RowsOfAReplacedTraceAreRefused) {
  const auto row_of = [](std::uint64_t run, const std::string& hash) {
    sweep::ResultRow row = made_up_row(run);
    row.settings.set("trace", std::string("folder/t.rrt"), "test");
    row.outcome.trace_hash = hash;
    return row;
  };
  {
    sweep::ResultsWriter writer(file(), made_up_sweep(), false);
    writer.check_input({"t.rrt", "0123"});
    writer.check_input({"u.rrt", "89ab"});
    writer.add({row_of(0, "0123")});
    writer.add({row_of(1, "0123")});
    const auto refused = AllOf(HasSubstr("folder/t.rrt"), HasSubstr("hash 4567"), HasSubstr("expected hash 0123)"),
                               HasSubstr("--restart"));
    expect_error(ErrorKind::Input, refused, [&] { writer.add({row_of(2, "0123"), row_of(3, "4567")}); });
    // That another input has this content does not help.
    expect_error(ErrorKind::Input, HasSubstr("hash 89ab"), [&] { writer.add({row_of(3, "89ab")}); });
    sweep::ResultRow workload = made_up_row(4);
    workload.settings.set("workload", std::string("divergence"), "test");
    sweep::ResultRow failed = row_of(5, "4567");
    writer.add({workload, failed});
    EXPECT_EQ(std::ranges::count(writer.finished(false), true), 4);
  }
  EXPECT_EQ(sweep::ResultsReader(file()).count(), 4U);
  {
    const sweep::Connection connection(file(), sweep::Connection::Mode::Write);
    connection.run("UPDATE runs SET trace_hash = '4567' WHERE run = 1");
    sweep::reseal_runs(connection, " WHERE run = 1");
  }
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  expect_error(ErrorKind::Input, AllOf(HasSubstr("run 1 "), HasSubstr("t.rrt"), HasSubstr("4567")),
               [&] { (void)writer.finished(false); });
  sweep::ResultsWriter all(file("all.db"), made_up_sweep(), false);
  expect_error(ErrorKind::Input, AllOf(HasSubstr("4567"), ::testing::Not(HasSubstr("--restart"))),
               [&] { all.merge(file()); });
}

TEST_F(Database, WhatMayPassIsTriedAgain) {
  const auto failed = [](std::uint64_t run, ErrorKind kind) {
    sweep::ResultRow row = made_up_row(run);
    row.outcome.metrics.clear();
    row.outcome.failure = {kind, {"it failed", "", "", "", ""}};
    return row;
  };
  {
    sweep::ResultsWriter writer(file("a.db"), made_up_sweep(), false);
    writer.add(
        {failed(0, ErrorKind::Resource), failed(1, ErrorKind::Input), failed(2, ErrorKind::Usage), made_up_row(3)});
  }
  EXPECT_EQ(sweep::ResultsReader(file("a.db")).retries(), 2U);
  {
    sweep::ResultsWriter writer(file(), made_up_sweep(), false);
    writer.merge(file("a.db"));
    std::vector<bool> expected(kRuns, false);
    expected[2] = expected[3] = true;
    EXPECT_EQ(writer.finished(false), expected);
    writer.add({made_up_row(0), failed(1, ErrorKind::Usage)});
    expected[0] = expected[1] = true;
    EXPECT_EQ(writer.finished(false), expected);
    expected[1] = expected[2] = false;
    EXPECT_EQ(writer.finished(true), expected);
  }
  EXPECT_EQ(sweep::ResultsReader(file()).retries(), 0U);
}

TEST_F(Database, TheBestOfAllRows) {
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  EXPECT_FALSE(writer.best("l1_hit_rate", experiment::Goal::More));
  for (const std::uint64_t run : {7U, 2U, 3U, 5U}) {
    writer.add({made_up_row(run)});
  }
  const auto most = writer.best("simt_efficiency", experiment::Goal::More);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->run, 2U);
  EXPECT_EQ(most->value, 0.5);
  const auto least = writer.best("simt_efficiency", experiment::Goal::Less);
  ASSERT_TRUE(least);
  EXPECT_EQ(least->run, 3U);  // as good as 7, and before it
  EXPECT_EQ(least->value, 0.25);
  EXPECT_FALSE(writer.best("model_cycles", experiment::Goal::Less));
}

TEST_F(Database, AnotherVersionsRowsAreRefused) {
  sweep::About old = made_up_sweep();
  old.tool_version = "0.0.7";
  { const sweep::ResultsWriter writer(file(), old, false); }
  EXPECT_EQ(sweep::ResultsReader(file()).about().tool_version, "0.0.7");
  expect_error(ErrorKind::Usage, AllOf(HasSubstr("0.0.7"), HasSubstr(RAYREPLAY_VERSION), HasSubstr("--restart")),
               [&] { const sweep::ResultsWriter writer(file(), made_up_sweep(), false); });
  sweep::ResultsWriter all(file("all.db"), made_up_sweep(), false);
  expect_error(ErrorKind::Usage, AllOf(HasSubstr("0.0.7"), HasSubstr(RAYREPLAY_VERSION)), [&] { all.merge(file()); });
}

TEST_F(Database, ResultsThatDifferAreNotMerged) {
  write_made_up(file("a.db"));
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  sweep::ResultRow row = made_up_row(9);
  writer.add({made_up_row(8)});
  row.outcome.metrics[2].second += 0.125;
  writer.add({row});
  expect_error(ErrorKind::Input, AllOf(HasSubstr("run 9: l2_hit_rate 0."), HasSubstr("a.db"), HasSubstr("s.db")),
               [&] { writer.merge(file("a.db")); });
}

TEST_F(Database, ReadersMayReadMeanwhile) {
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  writer.add({made_up_row(0)});  // the first is committed at once
  {
    const sweep::ResultsReader reader(file());
    EXPECT_EQ(reader.count(), 1U);
    writer.add({made_up_row(1)});
    EXPECT_EQ(reader.count(), 1U);  // all of a reader's answers fit together
  }
  writer.commit();
  EXPECT_EQ(sweep::ResultsReader(file()).count(), 2U);
}

TEST_F(Database, IsReadWhereNothingCanBeWritten) {
  const fs::path folder = file("read-only");
  const fs::path database = folder / "s.db";
  fs::create_directory(folder);
  write_made_up(database);
  fs::permissions(folder, static_cast<fs::perms>(0555));
  fs::permissions(database, static_cast<fs::perms>(0444));
  const int code = in_child([&] {
    // The superuser writes everywhere.
    constexpr uid_t kNobody = 65534;
    fs::permissions(folder.parent_path(), static_cast<fs::perms>(0755));
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) {
      return 2;
    }
    const sweep::ResultsReader reader(database);
    if (reader.count() != kRuns || reader.select({"run"}).rows.size() != kRuns) {
      return 3;
    }
    try {
      const sweep::ResultsWriter writer(database, made_up_sweep(), false);
      return 4;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Output && fs::exists(database) ? 0 : 5;
    }
  });
  EXPECT_EQ(code, 0);
  fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(Database, MergesShards) {
  write_made_up(file("whole.db"));
  for (int shard = 0; shard < 3; ++shard) {
    sweep::About about = made_up_sweep();
    about.shard = std::to_string(shard + 1) + "/3";
    sweep::ResultsWriter writer(file("shard" + std::to_string(shard)), about, false);
    writer.check_input({"t.rrt", "feedfacefeedfacefeedfacefeedface"});
    for (std::uint64_t run = kRuns; run-- > 0;) {
      if (run % 3 == static_cast<std::uint64_t>(shard)) {
        sweep::ResultRow row = made_up_row(run);
        if (shard == 1) {
          row.settings.set("costs.hit", std::int64_t{7}, "test");  // a column that the others do not have
        }
        writer.add({row});
      }
    }
  }
  sweep::About about = made_up_sweep();
  about.shard = "1/3";
  {
    sweep::ResultsWriter writer(file(), about, false);
    EXPECT_EQ(writer.merge(file("shard2")), 21U);
    EXPECT_EQ(writer.merge(file("shard0")), 22U);
    EXPECT_EQ(writer.merge(file("shard1")), 21U);
    expect_error(ErrorKind::Usage, HasSubstr("into itself"), [&] { writer.merge(file()); });
    expect_error(ErrorKind::Input, HasSubstr("does not exist"), [&] { writer.merge(file("none.db")); });
  }
  const sweep::ResultsReader merged(file()), whole(file("whole.db"));
  const std::vector<std::string> names = {"run",     "status",      "error",        "cache.l1.bytes",
                                          "packing", "l1_hit_rate", "configuration"};
  EXPECT_EQ(merged.select(names).rows, whole.select(names).rows);
  EXPECT_EQ(merged.count("costs.hit = 7"), 21U);
  EXPECT_EQ(merged.about().shard, "1/3,3/3,2/3");
}

TEST_F(Database, AResultNeverGivesWayToAnError) {
  write_made_up(file("a.db"));
  {
    sweep::ResultsWriter writer(file(), made_up_sweep(), false);
    sweep::ResultRow good = made_up_row(5), bad = made_up_row(4);
    good.outcome.failure.reset();
    bad.outcome.failure = made_up_row(5).outcome.failure;
    writer.add({good, bad});
    writer.merge(file("a.db"));
  }
  EXPECT_EQ(sweep::ResultsReader(file()).failures(), 0U);
}

TEST_F(Database, AFullDiskLosesNothingThatWasCommitted) {
  const int code = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    sweep::ResultsWriter writer(file(), made_up_sweep(), false);
    writer.add({made_up_row(0), made_up_row(1), made_up_row(2)});
    writer.commit();
    const rlimit limit{fs::file_size(file()) + 8192, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      for (std::uint64_t run = 3; run < kRuns; ++run) {
        sweep::ResultRow row = made_up_row(run);
        row.outcome.configuration.append(3000, '#');
        writer.add({row});
        writer.commit();
      }
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool told = text.find("s.db") != std::string::npos && (text.find("File too large") != std::string::npos ||
                                                                   text.find("disk is full") != std::string::npos);
      try {
        writer.add({made_up_row(9)});
      } catch (const Error& again) {
        return error.kind() == ErrorKind::Output && told && again.what() == text ? 4 : 5;
      }
    }
    return 0;
  });
  EXPECT_EQ(code, 4);
  EXPECT_FALSE(fs::exists(file("s.db-lock")));
  EXPECT_GE(sweep::ResultsReader(file()).count(), 3U);
  EXPECT_FALSE(fs::exists(file("s.db-journal")));
  // With space again, the same sweep goes on.
  sweep::ResultsWriter writer(file(), made_up_sweep(), false);
  const auto done = static_cast<std::uint64_t>(std::ranges::count(writer.finished(false), true));
  EXPECT_LT(done, kRuns);
  for (std::uint64_t run = done; run < kRuns; ++run) {
    writer.add({made_up_row(run)});
  }
  EXPECT_EQ(std::ranges::count(writer.finished(false), true), static_cast<std::ptrdiff_t>(kRuns));
}

TEST_F(Database, FilesThatAreNone) {
  const auto read = [&](const std::string& name) {
    return [&, name] { const sweep::ResultsReader reader(file(name)); };
  };
  const auto write = [&](const std::string& name) {
    return [&, name] { const sweep::ResultsWriter writer(file(name), made_up_sweep(), false); };
  };
  std::ofstream(file("text.db")) << std::string(5000, 'x');
  expect_error(ErrorKind::Input, HasSubstr("not a database"), read("text.db"));
  expect_error(ErrorKind::Input, HasSubstr("not a database"), write("text.db"));
  std::ofstream(file("empty.db")).close();
  expect_error(ErrorKind::Input, HasSubstr("an empty file"), read("empty.db"));
  expect_error(ErrorKind::Input, HasSubstr("does not exist"), read("none.db"));
  expect_error(ErrorKind::Input, HasSubstr("a folder"), read("."));
  sweep::Connection(file("other.db"), sweep::Connection::Mode::Write).run("CREATE TABLE runs (a)");
  expect_error(ErrorKind::Input, HasSubstr("no results of a sweep"), read("other.db"));
  expect_error(ErrorKind::Input, HasSubstr("no results of a sweep"), write("other.db"));
  write_made_up(file("newer.db"));
  sweep::Connection(file("newer.db"), sweep::Connection::Mode::Write).run("PRAGMA user_version = 3");
  expect_error(ErrorKind::Input, AllOf(HasSubstr("newer"), HasSubstr("version 3")), read("newer.db"));
  expect_error(ErrorKind::Input, HasSubstr("newer"), write("newer.db"));
  expect_error(ErrorKind::Output, HasSubstr("nowhere"), write("nowhere/s.db"));
}

TEST_F(Database, ForeignContentIsFound) {
  for (const char* change :
       {"DELETE FROM about WHERE name = 'runs'", "UPDATE about SET value = '-1' WHERE name = 'runs'",
        "UPDATE columns SET role = 'king' WHERE name = 'packing'",
        "UPDATE columns SET name = 'nothing' WHERE name = 'packing'", "DROP TABLE about", "DROP TABLE runs"}) {
    fs::remove(file());
    write_made_up(file());
    {
      const sweep::Connection connection(file(), sweep::Connection::Mode::Write);
      connection.run(change);
    }
    EXPECT_THROW(const sweep::ResultsReader reader(file()), Error) << change;
  }
}

TEST_F(Database, AFileThatIsCutOffIsFound) {
  for (const std::uintmax_t missing : {1U, 3000U, 4096U, 9000U}) {
    fs::remove(file());
    write_made_up(file());
    fs::resize_file(file(), fs::file_size(file()) - missing);
    expect_error(ErrorKind::Input, HasSubstr("s.db"), [&] { const sweep::ResultsReader reader(file()); });
    expect_error(ErrorKind::Input, HasSubstr("s.db"),
                 [&] { const sweep::ResultsWriter writer(file(), made_up_sweep(), false); });
    sweep::ResultsWriter other(file("other.db"), made_up_sweep(), false);
    EXPECT_THROW(other.merge(file()), Error);
  }
}

TEST_F(Database, DamageOfASmallFileIsFoundAlways) {
  write_made_up(file());
  std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
  damage.seekp(static_cast<std::streamoff>(fs::file_size(file()) / 2));
  damage << std::string(3000, '\x7f');
  damage.close();
  expect_error(ErrorKind::Input, HasSubstr("damaged"),
               [&] { const sweep::ResultsWriter writer(file(), made_up_sweep(), false); });
}

TEST_F(Database, DamageIsFoundAfterAKill) {
  write_made_up(file());
  {
    std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(static_cast<std::streamoff>(fs::file_size(file()) / 2));
    damage << std::string(3000, '\x7f');
  }
  std::ofstream(file("s.db-lock")) << "1 somewhere\n";
  expect_error(ErrorKind::Input, HasSubstr("damaged"),
               [&] { const sweep::ResultsWriter writer(file(), made_up_sweep(), false); });
  EXPECT_TRUE(fs::exists(file("s.db-lock")));  // the next one looks as well
  const sweep::ResultsWriter anew(file(), made_up_sweep(), true);
}

TEST_F(Database, DamagedFilesEndInErrorsAndNothingWorse) {
  write_made_up(file());
  std::ifstream in(file(), std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(in)), {});
  std::uint64_t seed = 1;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = sound;
    for (int k = 0; k < 8; ++k) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      bytes[(seed >> 20U) % bytes.size()] = static_cast<char>(seed >> 56U);
    }
    if (i % 4 == 0) {
      bytes.resize((seed >> 16U) % bytes.size());
    }
    std::ofstream(file("damaged.db"), std::ios::binary) << bytes;
    try {
      const sweep::ResultsReader reader(file("damaged.db"));
      for (const sweep::ResultColumn& column : reader.columns()) {
        (void)reader.select({column.name});
      }
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Output ||
                  error.kind() == ErrorKind::Internal)
          << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST_F(Database, ColumnsAndRowsThatAreNot) {
  write_made_up(file());
  const sweep::ResultsReader reader(file());
  expect_error(ErrorKind::Usage, AllOf(HasSubstr("'l1_hit_rat'"), HasSubstr("'l1_hit_rate'")),
               [&] { (void)reader.column("l1_hit_rat", "best"); });
  expect_error(ErrorKind::Usage, HasSubstr("0 to 63"), [&] { (void)reader.configuration(64); });
}

TEST_F(Database, QueriesReadAndNothingElse) {
  write_made_up(file());
  const sweep::ResultsReader reader(file());
  const sweep::ResultSet sum = reader.query(
      "SELECT packing, count(*) AS n, max(l1_hit_rate) FROM runs WHERE cache.l1.ways = 4 GROUP BY packing");
  ASSERT_EQ(sum.rows.size(), 2U);
  EXPECT_EQ(sum.columns[1].name, "n");
  EXPECT_EQ(sum.rows[0][1], sweep::ResultCell(std::int64_t{8}));
  for (const char* bad :
       {"DELETE FROM runs", "DROP TABLE runs", "SELECT 1; SELECT 2", "ATTACH DATABASE 'x' AS y", "PRAGMA user_version",
        "PRAGMA user_version = 5", "", "SELECT load_extension('x')", "CREATE TABLE a (b)", "VACUUM INTO 'copy.db'"}) {
    expect_error(ErrorKind::Usage, HasSubstr("--query"), [&] { (void)reader.query(bad); });
  }
  expect_error(ErrorKind::Usage, HasSubstr("no such column: nonsense"),
               [&] { (void)reader.query("SELECT nonsense FROM runs"); });
  EXPECT_FALSE(fs::exists("copy.db"));
}

}  // namespace
}  // namespace rayreplay::test
