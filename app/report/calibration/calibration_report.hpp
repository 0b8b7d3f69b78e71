// A calibration as text, JSON and CSV, and the machine file that it gives.
//
// Contract: text is the answer (calibration_answer.hpp), the table of keys and the table of rows below their origin.
// JSON has schema "rayreplay.calibration/1" (docs/surfaces.md), CSV the rows with the fitted values and the origin.
// Independent of time, threads, and the content of the store. `fitted_machine_file` is the machine with all keys and
// origins (docs/machines.md), under a comment with the measurements and errors; it reads back as the same machine.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/calibration/calibrate.hpp"
#include "sim/calibration/measurements.hpp"

namespace rayreplay::report {

struct CalibrationContext {
  std::string file;  ///< of the measurements
  std::string hash;  ///< of its bytes
  const std::vector<calibration::Measurement>& measurements;
  const calibration::CalibrationOptions& options;
  const calibration::Calibration& result;
};

/// Of the rows with this use: the root mean square of their residuals, by weight, which the fit minimises. Of ratios
/// ln(said / measured), for small errors the share by which both differ; of differences the root mean square over that
/// of the measured values. None of no rows, and where all measured values are 0.
struct RowErrors {
  std::size_t rows = 0;
  std::optional<double> before, after;
};
[[nodiscard]] RowErrors row_errors(const CalibrationContext& context, calibration::Use use);
/// Of the fitted rows, at the end of the second search; none where it did not end elsewhere.
[[nodiscard]] std::optional<double> other_error(const CalibrationContext& context);

[[nodiscard]] output::Table calibrated_keys(const CalibrationContext& context);
[[nodiscard]] output::Table calibrated_rows(const CalibrationContext& context);

[[nodiscard]] std::string calibration_text(const CalibrationContext& context);
[[nodiscard]] output::Table calibration_rows(const CalibrationContext& context);
[[nodiscard]] nlohmann::ordered_json calibration_json(const CalibrationContext& context);

[[nodiscard]] std::string fitted_machine_file(const CalibrationContext& context);

}  // namespace rayreplay::report
