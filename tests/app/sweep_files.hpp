// Small sweeps for the tests of the command, and what their databases hold.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/results/reader.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {

/// 48 units of one run; each takes some milliseconds.
inline constexpr const char* kSweep = R"(
objective = "simt_efficiency"
[experiment]
workload = "divergence:degree=5,warps=4000,bounces=4"
outputs = "simt"
[axes]
policy = ["stage-majority", "min-shader", "oldest-lane"]
packing = ["identity", "random:seed=1", "random:seed=2", "random:seed=3", "random:seed=4", "random:seed=5",
  "random:seed=6", "random:seed=7", "random:seed=8", "random:seed=9", "random:seed=10", "random:seed=11",
  "random:seed=12", "random:seed=13", "random:seed=14", "random:seed=15"]
)";
inline constexpr std::uint64_t kSweepRuns = 48;

/// kSweep with a part replaced: "warps=4000" says how long a run takes.
inline std::string sweep_with(std::string_view part, std::string_view replacement) {
  std::string text(kSweep);
  return text.replace(text.find(part), part.size(), replacement);
}

inline std::string write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

/// Everything of all rows but where, on what and when they were made.
inline std::vector<std::vector<std::string>> sweep_rows(const std::string& database) {
  const sweep::ResultsReader reader(database);
  std::vector<std::string> names;
  for (const sweep::ResultColumn& column : reader.columns()) {
    if (column.name != "host" && column.name != "started" && column.name != "seconds" && column.name != "device") {
      names.push_back(column.name);
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& cells : reader.select(names).rows) {
    auto& row = rows.emplace_back();
    for (const sweep::ResultCell& cell : cells) {
      row.push_back(sweep::to_text(cell));
    }
  }
  return rows;
}

/// 0 where there is no database yet.
inline std::uint64_t row_count(const std::string& database) {
  try {
    return std::filesystem::exists(database) ? sweep::ResultsReader(database).count() : 0;
  } catch (const Error&) {
    return 0;  // it is just being made
  }
}

}  // namespace rayreplay::test
