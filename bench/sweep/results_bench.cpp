// The database of a sweep with 100,000 rows: writing, resuming, and what is asked of it.
//
// Rows are complete: every key of an experiment, 20 metrics, the configuration as TOML. `Write/plain` is the peer:
// SQLite's own prepared insert of the same columns and texts in one transaction a second, nothing else. `Write/results`
// reports `ratio`, its rows a second over the peer's. The questions are asked of that database: seconds each.
// RAYREPLAY_BENCH_ROWS (default 100000).
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/split_mix.hpp"
#include "sim/sweep/analysis/best.hpp"
#include "sim/sweep/analysis/dataset.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/reader.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace {

using namespace rayreplay;
namespace fs = std::filesystem;

std::uint64_t rows_wanted() {
  const char* text = std::getenv("RAYREPLAY_BENCH_ROWS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 100000;
}

const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = (fs::temp_directory_path() / "rayreplay-bench-XXXXXX").string();
    return fs::path(::mkdtemp(name.data()));
  }();
  return made;
}

const std::vector<std::string> kAxes = {"cache.l1.bytes", "cache.l1.ways", "machine.sms", "cache.l2.bytes"};

sweep::About about() {
  return {std::string(32, 'a'), "# made up\n", rows_wanted(), kAxes, "", "1/1"};
}

/// A grid of 10 × 10 × 10 × rest.
std::vector<sweep::ResultRow> make_rows(std::uint64_t first, std::uint64_t count) {
  static const experiment::Settings complete = [] {
    experiment::Settings settings;
    settings.set("trace", std::string("t.rrt"), "bench");
    return experiment::complete(settings);
  }();
  static const std::string configuration = experiment::to_toml(complete, false);
  std::vector<sweep::ResultRow> rows(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t run = first + i;
    sweep::ResultRow& row = rows[i];
    row.run = run;
    row.settings = complete;
    std::uint64_t rest = run;
    double sum = 0;
    for (const std::string& axis : kAxes) {
      const std::uint64_t level = &axis == &kAxes.back() ? rest : rest % 10;
      rest /= 10;
      row.axis_values.emplace_back(axis, static_cast<std::int64_t>(4096 + 4096 * level));
      sum += static_cast<double>(level);
    }
    int metrics = 0;
    for (const experiment::Metric& metric : experiment::all_metrics()) {
      if (metrics++ < 20) {
        row.outcome.metrics.emplace_back(
            metric.name,
            sum + static_cast<double>(split_mix(run, static_cast<std::uint64_t>(metrics)) >> 40U) * 0x1p-24);
      }
    }
    row.outcome.configuration = configuration;
    row.outcome.trace_hash = std::string(32, 'b');
    row.outcome.device = "CPU";
    row.host = "host";
    row.started = "2026-01-31T12:00:00Z";
  }
  return rows;
}

template <class Function>
double seconds_of(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr std::uint64_t kBatch = 500;

double write_results(const fs::path& path) {
  fs::remove(path);
  double seconds = 0;
  {
    sweep::ResultsWriter writer(path, about(), false);
    for (std::uint64_t run = 0; run < rows_wanted(); run += kBatch) {
      const auto rows = make_rows(run, std::min(kBatch, rows_wanted() - run));
      seconds += seconds_of([&] { writer.add(rows); });
    }
    seconds += seconds_of([&] { writer.commit(); });
  }
  return seconds;
}

double write_plain(const fs::path& path, const std::vector<sweep::ResultColumn>& columns) {
  fs::remove(path);
  const sweep::Connection connection(path, sweep::Connection::Mode::Write);
  std::vector<std::string> declared, marks;
  for (const sweep::ResultColumn& column : columns) {
    declared.push_back(sweep::sql_name(column.name) +
                       (column.name == "run" ? " INTEGER PRIMARY KEY" : sql_type(column.type)));
    marks.emplace_back("?");
  }
  connection.run(fmt::format("CREATE TABLE runs ({})", fmt::join(declared, ",")));
  double seconds = 0;
  sweep::Statement insert = connection.prepare(fmt::format("INSERT INTO runs VALUES ({})", fmt::join(marks, ",")));
  connection.run("PRAGMA cache_spill=OFF; BEGIN");
  auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t run = 0; run < rows_wanted(); run += kBatch) {
    const auto rows = make_rows(run, std::min(kBatch, rows_wanted() - run));
    // What goes where is found beforehand: the peer only binds and steps.
    std::vector<std::vector<const ParameterValue*>> values;
    for (const sweep::ResultRow& row : rows) {
      values.emplace_back();
      for (const sweep::ResultColumn& column : columns) {
        const auto& all = row.settings.all();
        const auto found = all.find(column.name);
        values.back().push_back(found == all.end() ? nullptr : &found->second.value);
      }
    }
    seconds += seconds_of([&] {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::size_t metric = 0;
        for (std::size_t k = 0; k < columns.size(); ++k) {
          const int place = static_cast<int>(k) + 1;
          const ParameterValue* value = values[i][k];
          if (columns[k].name == "run") {
            insert.bind(place, static_cast<std::int64_t>(rows[i].run));
          } else if (columns[k].name == "configuration") {
            insert.bind(place, std::string_view(rows[i].outcome.configuration));
          } else if (columns[k].role == sweep::Role::Metric && metric < rows[i].outcome.metrics.size()) {
            insert.bind(place, rows[i].outcome.metrics[metric++].second);
          } else if (columns[k].role == sweep::Role::About) {
            insert.bind(place, std::string_view(rows[i].outcome.trace_hash));
          } else if (value == nullptr) {
            insert.bind_null(place);
          } else if (const auto* whole = std::get_if<std::int64_t>(value)) {
            insert.bind(place, *whole);
          } else if (const auto* text = std::get_if<std::string>(value)) {
            insert.bind(place, std::string_view(*text));
          } else if (const auto* real = std::get_if<double>(value)) {
            insert.bind(place, *real);
          }
        }
        insert.step();
        insert.reset();
      }
      if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(1)) {
        connection.run("COMMIT; BEGIN");
        begun = std::chrono::steady_clock::now();
      }
    });
  }
  seconds += seconds_of([&] { connection.run("COMMIT"); });
  return seconds;
}

const fs::path& database() {
  static const fs::path path = [] {
    write_results(folder() / "s.db");
    return folder() / "s.db";
  }();
  return path;
}

void write(benchmark::State& state) {
  const auto columns = sweep::ResultsReader(database()).columns();
  const auto rows = static_cast<double>(rows_wanted());
  for (auto one : state) {
    (void)one;
    const double plain = write_plain(folder() / "plain.db", columns);
    const double ours = write_results(folder() / "again.db");
    state.SetIterationTime(ours);
    state.counters["rows/s"] = rows / ours;
    state.counters["plain rows/s"] = rows / plain;
    state.counters["ratio"] = plain / ours;
    state.counters["MB"] = static_cast<double>(fs::file_size(folder() / "again.db")) / 1e6;
  }
}

void resume(benchmark::State& state) {
  (void)database();
  for (auto one : state) {
    (void)one;
    sweep::ResultsWriter writer(database(), about(), false);
    benchmark::DoNotOptimize(writer.finished(false));
  }
}

void best(benchmark::State& state) {
  (void)database();
  for (auto one : state) {
    (void)one;
    const sweep::ResultsReader reader(database());
    benchmark::DoNotOptimize(
        sweep::best_of(sweep::load_numbers(reader, reader.metrics().front().name, "", ""), experiment::Goal::More, 10));
  }
}

void pareto(benchmark::State& state) {
  (void)database();
  for (auto one : state) {
    (void)one;
    const sweep::ResultsReader reader(database());
    const auto metrics = reader.metrics();
    const std::vector<double> x = sweep::load_numbers(reader, metrics[0].name, "", "");
    const std::vector<double> y = sweep::load_numbers(reader, metrics[1].name, "", "");
    const std::vector<sweep::GoalColumn> columns = {{x, experiment::Goal::More}, {y, experiment::Goal::Less}};
    benchmark::DoNotOptimize(sweep::pareto_front(columns));
  }
}

void sensitivity(benchmark::State& state) {
  (void)database();
  for (auto one : state) {
    (void)one;
    const sweep::ResultsReader reader(database());
    const sweep::Dataset data = sweep::load_parameters(reader, "");
    benchmark::DoNotOptimize(sweep::sensitivity(
        data.parameters, sweep::load_numbers(reader, reader.metrics().front().name, "", ""), data.sampled));
  }
}

BENCHMARK(write)->Name("Write/results")->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(resume)->Name("Resume")->Unit(benchmark::kMillisecond);
BENCHMARK(best)->Name("Best")->Unit(benchmark::kMillisecond);
BENCHMARK(pareto)->Name("Pareto")->Unit(benchmark::kMillisecond);
BENCHMARK(sensitivity)->Name("Sensitivity")->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  fs::remove_all(folder());
  return 0;
}
