// The data of the analyses: varied parameters as levels, metrics as numbers.
//
// Contract: reads the rows of `runs` with status "ok" that satisfy `where`, ordered by run. Zipped axes are one
// parameter, named "a + b". Axes with a single value are left out. Numeric levels are ordered by value, texts by their
// bytes.
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
  bool sampled = false;  ///< the sampler draws values instead of listing a grid
};

[[nodiscard]] Dataset load_parameters(const ResultsReader& reader, const std::string& where);
/// One value for each run of `load_parameters` with the same `where`; NaN for a missing value. Usage for a text column;
/// the message names `option`.
[[nodiscard]] std::vector<double> load_numbers(const ResultsReader& reader, const std::string& name,
                                               const std::string& where, const std::string& option);
/// "(`where`) AND status = 'ok'".
[[nodiscard]] std::string finished_where(const std::string& where);

/// The goal of the sweep or of the metric; Usage asks for --less or --more if neither has one.
[[nodiscard]] experiment::Goal goal_of(const ResultsReader& reader, const std::string& metric);

/// A parameter or metric with different values in two runs.
struct Difference {
  ResultColumn column;
  ResultCell a, b;
};

struct RunComparison {
  std::vector<Difference> parameters;  ///< only those that differ
  std::vector<Difference> metrics;     ///< those that at least one run has
};

[[nodiscard]] RunComparison compare_runs(const ResultsReader& reader, std::uint64_t a, std::uint64_t b);

}  // namespace rayreplay::sweep
