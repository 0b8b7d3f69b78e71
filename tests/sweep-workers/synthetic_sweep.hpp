// A sweep whose evaluation is made up: a plan of 4 x 6 runs, and work that computes a number from the settings.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/reader.hpp"
#include "sim/sweep/workers/runner.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::sweep::test {

inline Plan small_plan(const std::string& more = "", std::uint64_t most_unit_runs = 2) {
  const std::string text = more + R"(
[experiment]
trace = "t.rrt"
[axes]
packing = ["identity", "random:seed=1", "random:seed=2", "random:seed=3"]
"default_cost" = [1, 2, 3, 4, 5, 6]
)";
  return Plan(parse_sweep(text, "s.toml", ""), {most_unit_runs});
}

inline double made_up(const experiment::Settings& settings) {
  const std::string& packing = settings.text("packing");
  const std::size_t seed = packing.find("seed=");
  return 1.0 / static_cast<double>(settings.integer("default_cost")) +
         (seed == std::string::npos ? 0.0 : static_cast<double>(packing[seed + 5] - '0'));
}

struct MadeUp {
  std::atomic<std::uint64_t> evaluated{0};
  std::atomic<int> under_way{0};
  std::atomic<int> most_under_way{0};
  std::chrono::milliseconds takes{0};
  std::string trace_hash = "00112233445566778899aabbccddeeff";
  std::function<void(const experiment::Settings&, Progress*)> before{};

  [[nodiscard]] Work work() {
    return {[this](std::span<const experiment::Settings> complete, Accelerator*, Progress* progress) {
      const int now = ++under_way;
      for (int most = most_under_way; now > most && !most_under_way.compare_exchange_weak(most, now);) {
      }
      struct End {
        std::atomic<int>& count;
        ~End() {
          --count;
        }
      } end{under_way};
      std::vector<experiment::Outcome> outcomes;
      for (const experiment::Settings& settings : complete) {
        std::this_thread::sleep_for(takes);
        if (before) {
          before(settings, progress);
        }
        experiment::Outcome outcome;
        outcome.metrics = {{"simt_efficiency", made_up(settings)}};
        outcome.configuration = experiment::to_toml(settings, false);
        outcome.trace_hash = trace_hash;
        outcome.device = "CPU";
        outcomes.push_back(outcome);
        ++evaluated;
      }
      return outcomes;
    }};
  }
};

inline About about_of(const Plan& plan, const std::string& shard = "1/1") {
  return {definition_hash(plan.definition()), "the sweep", plan.runs(), plan.keys(), "", shard};
}

/// Everything of all rows but where and when they were made.
inline std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& database) {
  const ResultsReader reader(database);
  std::vector<std::string> names;
  for (const ResultColumn& column : reader.columns()) {
    if (column.name != "host" && column.name != "started" && column.name != "seconds") {
      names.push_back(column.name);
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<ResultCell>& cells : reader.select(names).rows) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const ResultCell& cell : cells) {
      row.push_back(to_text(cell));
    }
  }
  return rows;
}

}  // namespace rayreplay::sweep::test
