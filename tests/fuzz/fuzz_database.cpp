// Fuzzer of databases of sweeps. A changed database must be refused as Input, or its questions be answered or refused
// as Usage or Input; `where` and `query` texts of users must never change the file.
//
// An input is lines: SQL that changes a sound database of twelve runs (rows, schema, marks), "~" leaves the checksums
// of rows as they are (they are made right otherwise, so that changes get past them), "@PLACE NUMBER" a 32-bit number
// put into the file's bytes afterwards, "?TEXT" a condition as after --where, "!TEXT" a query as after --query.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "sim/sweep/analysis/best.hpp"
#include "sim/sweep/analysis/dataset.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/reader.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/sqlite.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/support/fuzzing.hpp"

namespace rayreplay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds[] = {"databases"};
constexpr std::uint64_t kRuns = 12;
constexpr int kMaxText = 1 << 20;   ///< bytes of a text or blob that the changes may make
constexpr int kMaxSteps = 200'000;  ///< of SQLite's machine, for the changes of one input
constexpr int kStepsBetween = 1'000;

constexpr const char* kWords[] = {"UPDATE runs SET ",
                                  "UPDATE about SET value = ",
                                  "UPDATE columns SET ",
                                  "UPDATE inputs SET ",
                                  "DELETE FROM ",
                                  "INSERT INTO ",
                                  "ALTER TABLE ",
                                  "DROP TABLE ",
                                  "CREATE VIEW ",
                                  "CREATE TRIGGER ",
                                  "CREATE INDEX ",
                                  "RENAME TO ",
                                  "RENAME COLUMN ",
                                  "ADD COLUMN ",
                                  "DROP COLUMN ",
                                  " WHERE ",
                                  " AND ",
                                  " OR ",
                                  " ORDER BY ",
                                  " UNION SELECT ",
                                  "SELECT ",
                                  "runs",
                                  "about",
                                  "columns",
                                  "inputs",
                                  "retry",
                                  "run",
                                  "status",
                                  "error",
                                  "configuration",
                                  "name",
                                  "value",
                                  "role",
                                  "type",
                                  "unit",
                                  "text",
                                  "goal",
                                  "path",
                                  "hash",
                                  "\"machine.sms\"",
                                  "warp_size",
                                  "machine.sms >= 4",
                                  "simt_efficiency",
                                  "'ok'",
                                  "'error'",
                                  "NULL",
                                  "x'00ff'",
                                  "zeroblob(100)",
                                  "1e999",
                                  "-1",
                                  "''",
                                  "&&",
                                  "||",
                                  "==",
                                  "\"ok\"",
                                  "PRAGMA user_version = 2;",
                                  "PRAGMA application_id = 0;",
                                  "PRAGMA writable_schema = ON;",
                                  "randomblob(9)",
                                  "sqlite_schema",
                                  "format_version",
                                  "definition_hash",
                                  "char(0)",
                                  "printf('%d', 1)",
                                  "load_extension('x')",
                                  ");",
                                  "--"};

/// Its bytes: twelve runs over two axes, some failed, with inputs.
const std::string& sound_database() {
  static const std::string kBytes = [] {
    const fs::path path = scratch() / "sound.db";
    {
      sweep::About about;
      about.definition_hash = std::string(32, 'a');
      about.sweep = "[axes]\n";
      about.runs = kRuns;
      about.axes = {"machine.sms", "warp_size"};
      about.objective = "more simt_efficiency";
      sweep::ResultsWriter writer(path, about, true);
      writer.check_input({"t.rrt", std::string(32, 'b')});
      std::vector<sweep::ResultRow> rows;
      for (std::uint64_t run = 0; run < kRuns; ++run) {
        sweep::ResultRow row;
        row.run = run;
        row.axis_values = {{"machine.sms", static_cast<std::int64_t>(4 + run / 3)},
                           {"warp_size", static_cast<std::int64_t>(8 << run % 3)}};
        for (const auto& [key, value] : row.axis_values) {
          row.settings.set(key, value, "seed");
        }
        row.settings.set_text("trace=t.rrt", "seed");
        row.settings = experiment::complete(row.settings);
        row.started = "2026-01-31T12:00:00Z";
        row.host = "host";
        if (run % 5 == 4) {
          row.outcome.failure = experiment::Failure{ErrorKind::Resource, {"too little memory", "here", "", "", ""}};
        } else {
          row.outcome.metrics.push_back({"simt_efficiency", 1.0 / static_cast<double>(1 + run)});
        }
        rows.push_back(std::move(row));
      }
      writer.add(rows);
    }
    return test::read_bytes(path);
  }();
  return kBytes;
}

struct Close {
  void operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
  }
};

/// The sound database after `sql`; what of it is wrong, or takes too long, is left out.
std::string changed_database(const std::string& sql) {
  sqlite3* opened = nullptr;
  sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nullptr);
  const std::unique_ptr<sqlite3, Close> database(opened);
  const std::string& sound = sound_database();
  auto* const image = static_cast<unsigned char*>(sqlite3_malloc64(sound.size()));
  std::memcpy(image, sound.data(), sound.size());
  sqlite3_deserialize(opened, "main", image, static_cast<sqlite3_int64>(sound.size()),
                      static_cast<sqlite3_int64>(sound.size()),
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMaxText);
  int left = kMaxSteps / kStepsBetween;
  sqlite3_progress_handler(
      opened, kStepsBetween, [](void* steps) { return --*static_cast<int*>(steps) < 0 ? 1 : 0; }, &left);
  // Nothing but this file: other databases, and files by name, are not to be reached.
  sqlite3_set_authorizer(
      opened,
      [](void*, int action, const char* first, const char*, const char*, const char*) {
        const bool reaches_out = action == SQLITE_ATTACH || action == SQLITE_DETACH ||
                                 (action == SQLITE_PRAGMA && sqlite3_stricmp(first, "temp_store_directory") == 0);
        return reaches_out ? SQLITE_DENY : SQLITE_OK;
      },
      nullptr);
  sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_exec(opened, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(opened, "main", &size, 0);
  std::string result(reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return result;
}

/// Makes the checksum of every row right, as far as there are tables and columns for it.
void seal(const fs::path& path) {
  try {
    const sweep::Connection connection(path, sweep::Connection::Mode::Write);
    connection.run("PRAGMA journal_mode = MEMORY");
    for (const char* table : {"runs", "about", "columns", "inputs", "retry"}) {
      std::vector<std::string> names;
      std::string quoted;
      sweep::Statement info = connection.prepare("SELECT name FROM pragma_table_info(?)");
      info.bind(1, std::string_view(table));
      while (info.step()) {
        if (info.text(0) != sweep::kChecksumColumn) {
          names.push_back(info.text(0));
          quoted += ", " + sweep::sql_name(names.back());
        }
      }
      std::vector<std::pair<std::int64_t, std::int64_t>> sums;
      sweep::Statement rows = connection.prepare("SELECT rowid" + quoted + " FROM " + table);
      sweep::RowChecksum checksum(table, names);
      while (rows.step()) {
        sums.emplace_back(rows.whole(0), checksum.of(rows, 1));
      }
      rows = {};
      sweep::Statement update =
          connection.prepare(std::string("UPDATE ") + table + " SET checksum = ? WHERE rowid = ?");
      for (const auto& [row, sum] : sums) {
        update.reset();
        update.bind(1, sum);
        update.bind(2, row);
        update.step();
      }
    }
  } catch (const Error&) {
    // A changed schema: what was sealed so far is what it is.
  }
}

struct Input {
  std::string sql;
  bool sealed = true;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> patches;
  std::vector<std::string> conditions, queries;
};

Input parse(std::string_view text) {
  Input input;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == "~") {
      input.sealed = false;
    } else if (line.starts_with('@')) {
      char* rest = nullptr;
      const std::uint64_t place = std::strtoull(line.c_str() + 1, &rest, 10);
      input.patches.emplace_back(place, static_cast<std::uint32_t>(std::strtoull(rest, nullptr, 10)));
    } else if (line.starts_with('?')) {
      input.conditions.push_back(line.substr(1));
    } else if (line.starts_with('!')) {
      input.queries.push_back(line.substr(1));
    } else {
      input.sql += line + "\n";
    }
  }
  return input;
}

std::vector<std::string> seeds() {
  return {
      "",
      "?machine.sms >= 4 && status == \"ok\"\n?warp_size = 8 OR simt_efficiency > 0.5\n?error LIKE '%memory%'\n",
      "!SELECT run, machine.sms FROM runs WHERE status = 'ok' ORDER BY simt_efficiency DESC LIMIT 3\n"
      "!SELECT name, text FROM columns\n!WITH t(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM t WHERE x < 9) SELECT x FROM "
      "t\n",
      "UPDATE about SET value = '2' WHERE name = 'runs';\n",
      "UPDATE runs SET warp_size = 'x' WHERE run = 3;\nUPDATE runs SET simt_efficiency = 1e999 WHERE run = 2;\n",
      "DELETE FROM columns WHERE role = 'axis';\n?warp_size = 8\n",
      "UPDATE columns SET type = 'truth' WHERE name = 'warp_size';\nINSERT INTO inputs VALUES ('u.rrt', 'c');\n",
      "ALTER TABLE runs RENAME COLUMN warp_size TO \"Warp~2\";\n",
      "CREATE VIEW v AS SELECT * FROM runs;\nCREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM about; END;\n",
      "PRAGMA writable_schema = ON;\nUPDATE sqlite_schema SET sql = replace(sql, 'status', 'staatus');\n",
      "PRAGMA user_version = 2;\n",
      "DROP TABLE retry;\nDROP TABLE inputs;\n",
      "INSERT INTO runs (run, status) VALUES (99, 'ok');\nUPDATE runs SET run = 1000000 WHERE run = 0;\n",
      "@4096 13\n@100 0\n",
      "@28 9\n",
      "~\nUPDATE runs SET host = 'x' WHERE run = 3;\n",
      "UPDATE about SET value = '1/0' WHERE name = 'shard';\nUPDATE runs SET status = NULL;\n",
  };
}

void mutate(std::string& input, Random& random) {
  if (random.one_in(8)) {
    input += "@" + std::to_string(random.one_in(2) ? random.below(200) : random.below(1U << 18U)) + " " +
             std::to_string(static_cast<std::uint32_t>(odd_number(random))) + "\n";
  } else {
    change_text(input, random, kWords);
  }
}

/// What the command asks of a database.
void ask(const sweep::ResultsReader& reader, const Input& input) {
  const auto question = [](auto&& use) { return taken({ErrorKind::Usage, ErrorKind::Input}, use); };
  question([&] { static_cast<void>(reader.metrics()); });
  question([&] { static_cast<void>(reader.failures()); });
  question([&] { static_cast<void>(reader.retries()); });
  for (const char* name : {"device", "tool_version", "configuration"}) {
    question([&] { static_cast<void>(reader.distinct(name)); });
  }
  for (const std::uint64_t run : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{99}}) {
    question([&] { static_cast<void>(reader.configuration(run)); });
  }
  question([&] { static_cast<void>(sweep::compare_runs(reader, 0, 1)); });
  std::vector<std::string> conditions = input.conditions;
  conditions.emplace_back();
  for (const std::string& condition : conditions) {
    question([&] { static_cast<void>(reader.count(condition)); });
    question([&] { static_cast<void>(reader.select({"run", "status", "warp_size"}, condition)); });
    question([&] {
      const sweep::Dataset dataset = sweep::load_parameters(reader, condition);
      const std::vector<double> values = sweep::load_numbers(reader, "simt_efficiency", condition, "--metric");
      if (dataset.runs.size() != values.size()) {
        finding("a dataset has more or fewer rows than its metric");
      }
      static_cast<void>(sweep::sensitivity(dataset.parameters, values, dataset.sampled));
      static_cast<void>(sweep::best_of(values, experiment::Goal::More, 3));
    });
  }
  for (const std::string& query : input.queries) {
    // A query may take as long as it likes: recursive ones with another bound than the seed's are left out.
    if (query.find("WITH") == std::string::npos || query.find("x < 9)") != std::string::npos) {
      question([&] {
        for (const auto& row : reader.query(query).rows) {
          for (const sweep::ResultCell& cell : row) {
            static_cast<void>(sweep::to_text(cell));
          }
        }
      });
    }
  }
}

Verdict run(std::string_view text) {
  static const fs::path kFile = scratch() / "r.db";
  const Input input = parse(text);
  std::string bytes = changed_database(input.sql);
  if (input.sealed && !input.sql.empty() && !bytes.empty()) {
    test::write_bytes(kFile, bytes);
    seal(kFile);
    bytes = test::read_bytes(kFile);
  }
  for (const auto& [place, number] : input.patches) {
    if (bytes.size() >= 4) {
      std::memcpy(bytes.data() + place % (bytes.size() - 3), &number, 4);
    }
  }
  test::write_bytes(kFile, bytes);
  const bool read = taken({ErrorKind::Input}, [&] {
    const sweep::ResultsReader reader(kFile);
    ask(reader, input);
  });
  if (test::read_bytes(kFile) != bytes) {
    finding("reading changed the database");
  }
  return {0, read};
}

}  // namespace

const Fuzzer kFuzzer{"database", kKinds, &seeds, &run, &mutate, 300};

}  // namespace rayreplay::fuzz
