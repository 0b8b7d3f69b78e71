// Changed databases: an error of kind Input that names the change, never Internal, and never a value that was not
// written.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/sweep/results/reader.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Changes the file as another program would, without any of our checks.
void change(const fs::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << sql << ": " << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(database);
}

std::vector<std::vector<std::string>> all_rows(const fs::path& path) {
  const sweep::ResultsReader reader(path);
  std::vector<std::string> names;
  for (const sweep::ResultColumn& column : reader.columns()) {
    names.push_back(column.name);
  }
  std::vector<std::vector<std::string>> rows = {{reader.about().sweep, reader.about().definition_hash}};
  for (const sweep::InputFile& input : reader.inputs()) {
    rows.push_back({input.path, input.hash});
  }
  for (const auto& cells : reader.select(names).rows) {
    auto& row = rows.emplace_back();
    for (const sweep::ResultCell& cell : cells) {
      row.push_back(sweep::to_text(cell));
    }
  }
  return rows;
}

class HostileDatabase : public ::testing::Test {
 protected:
  HostileDatabase() {
    write_made_up(sound());
  }
  [[nodiscard]] fs::path sound() const {
    return folder_ / "sound.db";
  }
  /// A copy to change.
  [[nodiscard]] fs::path copy() const {
    const fs::path path = folder_ / "changed.db";
    fs::copy_file(sound(), path, fs::copy_options::overwrite_existing);
    return path;
  }
  template <class Action>
  static void expect_input(const std::string& part, const std::string& what, Action&& action) {
    try {
      action();
      ADD_FAILURE() << what << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input) << what << ": " << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("changed.db"), HasSubstr(part))) << what;
    }
  }
  /// Every way to open the database must refuse it.
  void expect_refused(const fs::path& path, const std::string& part, const std::string& what) const {
    expect_input(part, what, [&] { const sweep::ResultsReader reader(path); });
    expect_input(part, what, [&] {
      sweep::ResultsWriter whole(folder_ / "whole.db", made_up_sweep(), true);
      whole.merge(path);
    });
    expect_input(part, what, [&] { const sweep::ResultsWriter writer(path, made_up_sweep(), false); });
  }

  TemporaryFolder folder_;
};

TEST_F(HostileDatabase, AnotherSchemaIsRefused) {
  for (const char* sql : {
           "DROP TABLE inputs",
           "DROP TABLE columns",
           "DROP TABLE retry",
           "DROP TABLE about",
           "DROP TABLE runs",
           "ALTER TABLE runs RENAME TO hidden; CREATE VIEW runs AS SELECT * FROM hidden",
           "ALTER TABLE about RENAME TO hidden; CREATE VIEW about AS SELECT * FROM hidden",
           "ALTER TABLE retry RENAME TO hidden; CREATE VIEW retry AS SELECT * FROM hidden",
           "CREATE VIEW mine AS SELECT run FROM runs",
           "CREATE TRIGGER mine AFTER INSERT ON runs BEGIN DELETE FROM runs WHERE run = 0; END",
           "CREATE TABLE mine (x)",
           "CREATE INDEX mine ON runs (status)",
           "ALTER TABLE runs DROP COLUMN host",
           "ALTER TABLE runs ADD COLUMN mine TEXT",
           "ALTER TABLE runs RENAME COLUMN host TO machine_name",
           "ALTER TABLE columns DROP COLUMN goal",
           "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'TEXT', 'BLOB') WHERE name = "
           "'about'",
           "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, '\"host\" TEXT',"
           " '\"host\" TEXT COLLATE NOCASE') WHERE name = 'runs'",
       }) {
    const fs::path path = copy();
    change(path, sql);
    expect_refused(path, "", sql);
  }
}

TEST_F(HostileDatabase, AnotherFormatIsRefused) {
  for (const char* sql :
       {"PRAGMA user_version=0", "PRAGMA user_version=1", "PRAGMA user_version=3", "PRAGMA application_id=1"}) {
    const fs::path path = copy();
    change(path, sql);
    expect_refused(path, "", sql);
  }
}

TEST_F(HostileDatabase, WhatSqliteItselfAddsIsTaken) {
  const auto before = all_rows(sound());
  const fs::path path = copy();
  change(path, "ANALYZE; VACUUM");
  EXPECT_EQ(all_rows(path), before);
  EXPECT_NO_THROW(sweep::ResultsWriter(path, made_up_sweep(), false));
}

TEST_F(HostileDatabase, ChangedValuesAreFoundInEveryTable) {
  {
    sweep::ResultsWriter writer(sound(), made_up_sweep(), false);
    sweep::ResultRow row = made_up_row(5);
    row.outcome.failure->kind = ErrorKind::Resource;  // one for table retry
    writer.add({row});
  }
  for (const auto& [sql, part] : std::vector<std::pair<const char*, const char*>>{
           {"UPDATE runs SET l1_hit_rate = l1_hit_rate + 1e-12 WHERE run = 3", "table runs, run 3"},
           {"UPDATE runs SET l1_hit_rate = NULL WHERE run = 3", "run 3"},
           {"UPDATE runs SET host = 'Host' WHERE run = 7", "run 7"},
           {"UPDATE runs SET run = 1000 WHERE run = 9", "run 1000"},
           {"UPDATE runs SET checksum = NULL WHERE run = 9", "run 9"},
           {"UPDATE runs SET checksum = checksum + 1 WHERE run = 9", "run 9"},
           {"UPDATE about SET value = 'x' WHERE name = 'sweep'", "table about, name sweep"},
           {"UPDATE columns SET unit = 'kB' WHERE name = 'dram_bytes'", "table columns, name dram_bytes"},
           {"UPDATE inputs SET hash = 'x'", "table inputs, path t.rrt"},
           {"UPDATE retry SET run = 6", "table retry, run 6"},
       }) {
    const fs::path path = copy();
    change(path, sql);
    expect_refused(path, part, sql);
  }
}

TEST_F(HostileDatabase, AFlippedBitIsAnErrorOrChangesNothing) {
  const auto before = all_rows(sound());
  std::string bytes;
  {
    std::ifstream file(sound(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  constexpr std::uint64_t kFlips = 400;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kFlips; ++i) {
    // The header in full, the rest at random.
    const std::size_t at = i < 100 ? i : split_mix(7, i) % bytes.size();
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1U << (split_mix(8, i) % 8)));
    const fs::path path = folder_ / "changed.db";
    std::ofstream(path, std::ios::binary) << changed;
    try {
      EXPECT_EQ(all_rows(path), before) << "byte " << at << " went unnoticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input) << "byte " << at << ": " << error.what();
      ++found;
    }
    try {
      const sweep::ResultsWriter writer(path, made_up_sweep(), false);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input) << "byte " << at << ": " << error.what();
    }
    for (const char* suffix : {"", "-wal", "-shm", "-journal", "-lock"}) {
      fs::remove(path.string() + suffix);
    }
  }
  EXPECT_GT(found, kFlips / 4);
}

TEST_F(HostileDatabase, TheFirstFormatIsReadAndNotAddedTo) {
  const auto before = all_rows(sound());
  EXPECT_TRUE(sweep::ResultsReader(sound()).has_checksums());
  const fs::path path = copy();
  for (const char* table : {"about", "columns", "inputs", "retry", "runs"}) {
    change(path, std::string("ALTER TABLE ") + table + " DROP COLUMN checksum");
  }
  change(path, "PRAGMA user_version=1; UPDATE about SET value = '1' WHERE name = 'format_version'");
  EXPECT_EQ(all_rows(path), before);
  EXPECT_FALSE(sweep::ResultsReader(path).has_checksums());
  expect_input("older format", "resume", [&] { const sweep::ResultsWriter writer(path, made_up_sweep(), false); });
  expect_input("older format", "merge", [&] {
    sweep::ResultsWriter whole(folder_ / "whole.db", made_up_sweep(), true);
    whole.merge(path);
  });
  change(path, "DROP TABLE retry");  // as the first of them had none
  EXPECT_EQ(all_rows(path), before);
}

TEST_F(HostileDatabase, PipesAreNotWaitedFor) {
  const fs::path path = folder_ / "changed.db";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_input("a pipe", "the database", [&] { const sweep::ResultsReader reader(path); });
  fs::remove(path);
  static_cast<void>(copy());
  ASSERT_EQ(::mkfifo((path.string() + "-journal").c_str(), 0600), 0);
  expect_input("a pipe", "its journal", [&] { const sweep::ResultsReader reader(path); });
}

TEST_F(HostileDatabase, ALinkInPlaceOfTheLockIsNotFollowed) {
  std::ofstream(folder_ / "victim") << "precious";
  fs::create_symlink(folder_ / "victim", folder_ / "sound.db-lock");
  try {
    const sweep::ResultsWriter writer(sound(), made_up_sweep(), false);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Output);
    EXPECT_THAT(error.what(), HasSubstr("a symbolic link"));
  }
  EXPECT_EQ(fs::file_size(folder_ / "victim"), 8U);
}

TEST_F(HostileDatabase, ValuesThatSqliteStoresInAnotherFormKeepTheirChecksum) {
  const fs::path path = folder_ / "forms.db";
  {
    sweep::ResultsWriter writer(path, made_up_sweep(), false);
    std::uint64_t run = 0;
    const auto add = [&](const std::string& key, const ParameterValue& value) {
      sweep::ResultRow row = made_up_row(run++);
      row.axis_values = {{key, value}};
      writer.add({row});
    };
    for (const ParameterValue& value :
         std::vector<ParameterValue>{std::int64_t{7}, 7.0, 7.5, -0.0, 1e300, std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::infinity(), std::int64_t{1} << 60U, true,
                                     std::string("7"), std::string("seven"), std::string("")}) {
      for (const char* key : {"cache.l1.bytes", "packing", "costs.Hit"}) {
        add(key, value);
      }
    }
  }
  EXPECT_EQ(sweep::ResultsReader(path).count(), 36U);
  EXPECT_NO_THROW(sweep::ResultsWriter(path, made_up_sweep(), false));
}

TEST_F(HostileDatabase, AQueryWithoutEndEndsBeforeTheMemoryDoes) {
  const fs::path path = sound();
  const auto ask = [&path] {
    const rlimit limit{rlim_t{1} << 30U, rlim_t{1} << 30U};
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      static_cast<void>(sweep::ResultsReader(path).query(
          "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"));
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::_Exit(error.exit_code());
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(static_cast<int>(ErrorKind::Resource)),
              "--query: the rows do not fit into memory.*add LIMIT");
}

TEST_F(HostileDatabase, MergingOnlyReadsTheShard) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(sound().c_str(), &other), SQLITE_OK);
  // Somebody else is about to write to it: readers are not kept from it.
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  {
    sweep::ResultsWriter writer(folder_ / "whole.db", made_up_sweep(), false);
    EXPECT_EQ(writer.merge(sound()), kRuns);
  }
  sqlite3_close(other);
  EXPECT_EQ(all_rows(folder_ / "whole.db"), all_rows(sound()));
}

TEST_F(HostileDatabase, MergedRowsKeepTheirChecksumsThoughColumnsDiffer) {
  const auto write = [&](const fs::path& path, std::uint64_t run, const char* key) {
    sweep::ResultsWriter writer(path, made_up_sweep(), false);
    sweep::ResultRow row = made_up_row(run);
    row.settings.set(key, 5.0, "test");
    writer.add({row});
  };
  write(folder_ / "a.db", 1, "costs.Hit");
  write(folder_ / "b.db", 2, "costs.hit");  // SQL does not tell them apart: it has no column beside the other
  write(folder_ / "c.db", 3, "costs.Miss");
  {
    sweep::ResultsWriter writer(folder_ / "a.db", made_up_sweep(), false);
    EXPECT_EQ(writer.merge(folder_ / "b.db"), 1U);
    EXPECT_EQ(writer.merge(folder_ / "c.db"), 1U);
  }
  EXPECT_EQ(sweep::ResultsReader(folder_ / "a.db").count(), 3U);
}

}  // namespace
}  // namespace rayreplay::test
