// What the analyses need of a database: varied parameters as levels, metrics as numbers.
//
// Contract: rows of `runs` with status "ok", by run, that satisfy `where`. Axes that the sweep zips are one parameter,
// named "a + b"; axes with one value are left out. Numbers order levels by value, texts by their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sweep/analysis/sensitivity.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::sweep {

struct Dataset {
  std::vector<std::uint64_t> runs;
  std::vector<VariedParameter> parameters;
  bool sampled = false;  ///< the sweep's sampler draws values
};

[[nodiscard]] Dataset load_parameters(const ResultsReader& reader, const std::string& where);
/// By row, as the runs of `load_parameters` with the same `where`; NaN where there is none. Usage where the column
/// holds texts; `option` stands in the message.
[[nodiscard]] std::vector<double> load_numbers(const ResultsReader& reader, const std::string& name,
                                               const std::string& where, const std::string& option);
/// `where` AND status = 'ok'.
[[nodiscard]] std::string finished_where(const std::string& where);

/// The goal that the sweep or the metric has; Usage asks for --less or --more where there is none.
[[nodiscard]] experiment::Goal goal_of(const ResultsReader& reader, const std::string& metric);

/// A parameter or metric in which two runs differ.
struct Difference {
  ResultColumn column;
  ResultCell a, b;
};

struct RunComparison {
  std::vector<Difference> parameters;  ///< that differ
  std::vector<Difference> metrics;     ///< that at least one has
};

[[nodiscard]] RunComparison compare_runs(const ResultsReader& reader, std::uint64_t a, std::uint64_t b);

}  // namespace rayreplay::sweep
