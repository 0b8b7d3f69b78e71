// Measured launches: rows of a CSV file, each an experiment and the measured value of one of its metrics.
//
// Contract: columns `trace`, `metric` and `value` are needed, in any order; `weight`, `name` and `use` may be there;
// any other column is a key of an experiment (sim/settings/parameter_table.hpp) and sets it for its row, if the cell is
// not empty. CSV as in base/csv.hpp.
//   trace    a path, relative to the file's folder, or the spec of a synthetic workload: a text whose part before the
//            first colon names one ("./NAME" is a file of that name)
//   metric   as `rayreplay list metrics` names it
//   value    a finite number, in the metric's unit (shares: 0.65)
//   weight   a number above 0 [1]: factor of the row's residual
//   name     for messages and tables ["row N", counted from 1]
//   use      `fit` [default] or `predict`: held out of the fit
// Errors: Input with file, line and column for what breaks this format; Usage for unknown metrics, keys and workloads,
// values that a key cannot have, and keys that the calibration sets itself, with the nearest known name. At most
// kMaxMeasurements rows, at least one. O(bytes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/settings/settings.hpp"

namespace rayreplay::calibration {

inline constexpr std::size_t kMaxMeasurements = 10000;

enum class Use : std::uint8_t { Fit, Predict };

[[nodiscard]] const char* to_string(Use use);  ///< "fit", "predict"

struct Measurement {
  std::string name;
  std::string input;  ///< as the file writes it
  std::string metric;
  double value = 0;
  double weight = 1;
  Use use = Use::Fit;
  experiment::Settings settings{};  ///< the input, the output of the metric, and the row's keys; not completed
  std::string place{};              ///< "m.csv:3"
};

[[nodiscard]] std::vector<Measurement> parse_measurements(std::string_view csv, const std::string& source,
                                                          const std::string& folder);

/// Holds rows out of the fit: those of this name, or where no row has it, the row of this number, counted from 1.
/// Usage, with the nearest name, at `where` if there is none.
void hold_out(std::vector<Measurement>& measurements, const std::string& name_or_number, const std::string& where);

}  // namespace rayreplay::calibration
