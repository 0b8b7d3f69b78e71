// Calibration: the values of a few keys of a machine with which the models say what was measured.
//
// Contract: each measurement is an experiment: the common settings, then its own, then the fitted keys. `calibrate`
// minimises the weighted squares of the residuals of the rows with Use::Fit, which are
//   Ratio        weight · (ln said - ln measured); measured and said values must be above 0;
//   Difference   weight · (said - measured), in the metric's unit,
// by `least_squares` (least_squares.hpp), which starts at the machine's values. All rows of a batch of points go
// through the evaluator in one call, so that they share stages. The other rows are evaluated at the first and the last
// point alone. A point that an experiment refuses (Usage, Missing: ways that do not divide the lines) is avoided; other
// failures are thrown with the row's place. At the machine's own values every failure is thrown.
// `determine` (determination.hpp) then judges each key by the rows that were fitted; of differences the residuals count
// as shares of the root mean square of the measured values. Where the second search ended elsewhere with a cost that is
// less than kAsGood times that of the result, keys with other values there are Undetermined. The result does not depend
// on threads, device and store.
//
// Errors: Usage for fewer rows to fit than keys, a column that sets a fitted key, a key of which every value but the
// machine's contradicts the other keys, a key on which no result to fit depends because no stage reads it, a measured
// value of 0 or less with Ratio, and too few evaluations; Missing for a row whose experiment does not have the metric.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "base/progress.hpp"
#include "sim/calibration/determination.hpp"
#include "sim/calibration/fitted_key.hpp"
#include "sim/calibration/least_squares.hpp"
#include "sim/calibration/measurements.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::calibration {

enum class Residual : std::uint8_t { Ratio, Difference };

[[nodiscard]] const char* to_string(Residual residual);  ///< "ratio", "difference"
/// Usage, with the nearest name, at `where`.
[[nodiscard]] Residual parse_residual(const std::string& name, const std::string& where);

/// Of costs: the root mean square of the residuals differs by less than 10 %.
inline constexpr double kAsGood = 1.21;

struct CalibrationOptions {
  experiment::Settings common;  ///< with the machine; not completed
  std::vector<FittedKey> keys;
  Residual residual = Residual::Ratio;
  std::size_t most_evaluations = 200;  ///< points of the keys
};

struct CalibratedKey {
  FittedKey key;
  double value = 0;
  Known known = Known::Determined;
  double sensitivity = 0;          ///< change of ln said (of differences: of said by the mean) for one of ln value
  std::optional<double> reaction;  ///< determination.hpp
  std::optional<double> standard_error;  ///< in the key's unit
  /// Change of the value, in its unit, for independent errors of 1 % in all rows.
  std::optional<double> percent_moves;

  [[nodiscard]] bool on_low() const {
    return value <= key.low;
  }
  [[nodiscard]] bool on_high() const {
    return value >= key.high;
  }
  /// An error of 1 % in the rows moves the value by half or more.
  [[nodiscard]] bool hardly_moves_rows() const {
    return reaction && *reaction > kMostReaction;
  }
};

struct CalibratedRow {
  double before = 0, after = 0;  ///< what the model says
  std::string trace_hash;
  std::string configuration;  ///< TOML: complete, with the fitted values
  std::string device;
};

struct Calibration {
  std::vector<CalibratedKey> keys;
  std::vector<CalibratedRow> rows;  ///< as the measurements
  machine::Machine machine;         ///< with the fitted values, and their origins
  Stop stop = Stop::Converged;
  std::size_t evaluations = 0;
  double cost_before = 0, cost_after = 0;
  std::optional<OtherEnd> other;  ///< of the second search: values by `keys` (least_squares.hpp)
  std::optional<double> condition;
  std::vector<std::size_t> partners;  ///< of `keys`

  /// True if the other end fits as well as the result.
  [[nodiscard]] bool other_fits() const {
    constexpr double kExact = 1e-20;  // a residual, but for rounding
    return other && other->cost <= kAsGood * std::max(cost_after, kExact * static_cast<double>(rows.size()));
  }
};

/// Share by which the value differs from the measured one; none where that is 0.
[[nodiscard]] std::optional<double> error_share(double said, double measured);

[[nodiscard]] Calibration calibrate(const std::vector<Measurement>& measurements, const CalibrationOptions& options,
                                    experiment::Evaluator& evaluator, Accelerator* accelerator = nullptr,
                                    Progress* progress = nullptr);

}  // namespace rayreplay::calibration
