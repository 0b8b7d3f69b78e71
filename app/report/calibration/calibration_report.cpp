#include "app/report/calibration/calibration_report.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/calibration/calibration_answer.hpp"
#include "app/report/context/experiment_table.hpp"
#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"
#include "sim/settings/metrics.hpp"

namespace rayreplay::report {
namespace {

using calibration::CalibratedKey;
using calibration::CalibratedRow;
using calibration::Measurement;
using calibration::Use;
using output::Cell;
using output::Show;

constexpr int kValueDigits = 6;  // as fitted values have them
constexpr int kErrorDigits = 3;

Cell cell_of(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Cell(*value) : Cell();
}

bool is_ratio(const CalibrationContext& context) {
  return context.options.residual == calibration::Residual::Ratio;
}

/// Of squares whose sum is `sum`, by weight; differences as a share of the measured values.
std::optional<double> root_of_mean(const CalibrationContext& context, Use use, double sum) {
  double whole = 0;
  for (const Measurement& one : context.measurements) {
    const double unit = one.use != use ? 0 : one.weight * (is_ratio(context) ? 1 : one.value);
    whole += unit * unit;
  }
  return whole > 0 ? std::optional(std::sqrt(sum / whole)) : std::nullopt;
}

std::optional<double> root_mean_square(const CalibrationContext& context, Use use, double CalibratedRow::*value) {
  double sum = 0;
  for (std::size_t i = 0; i < context.measurements.size(); ++i) {
    const Measurement& one = context.measurements[i];
    const double said = context.result.rows[i].*value;
    const double error = one.weight * (is_ratio(context) ? std::log(said / one.value) : said - one.value);
    sum += one.use == use ? error * error : 0;
  }
  return root_of_mean(context, use, sum);
}

/// Values and error at the end of the second search, if that is elsewhere.
nlohmann::ordered_json other_end_json(const CalibrationContext& context) {
  if (!context.result.other) {
    return nullptr;
  }
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < context.result.keys.size(); ++i) {
    values[context.result.keys[i].key.key] = context.result.other->values[static_cast<Eigen::Index>(i)];
  }
  nlohmann::ordered_json error;
  if (const auto root = other_error(context)) {
    error = *root;
  }
  return {{"values", std::move(values)}, {"rms_error", std::move(error)}};
}

/// The keys that each row's experiment sets: those of the file, without the common ones.
nlohmann::ordered_json row_settings(const Measurement& one) {
  nlohmann::ordered_json keys = nlohmann::ordered_json::object();
  for (const auto& [key, setting] : one.settings.all()) {
    if (setting.value != ParameterValue(std::string())) {
      auto& value = keys[key];
      std::visit([&](const auto& plain) { value = plain; }, setting.value);
    }
  }
  return keys;
}

std::string device_text(const CalibrationContext& context) {
  std::vector<std::string> devices;
  for (const CalibratedRow& row : context.result.rows) {
    if (std::ranges::find(devices, row.device) == devices.end()) {
      devices.push_back(row.device);
    }
  }
  return fmt::format("{}", fmt::join(devices, "; "));
}

const char* stop_text(calibration::Stop stop) {
  switch (stop) {
    case calibration::Stop::Exact:
      return "exact";
    case calibration::Stop::Converged:
      return "converged";
    case calibration::Stop::Evaluations:
      break;
  }
  return "evaluations";
}

std::string number_text(const Cell& cell, int digits) {
  if (const auto* real = std::get_if<double>(&cell)) {
    return fmt::format("{:.{}g}", *real, digits);
  }
  return std::holds_alternative<std::monostate>(cell) ? "-" : std::get<std::string>(cell);
}

/// Columns with so many significant digits, for tables whose rows have different units.
output::Table with_digits(output::Table table, int digits, const std::vector<std::string>& keys) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (std::ranges::find(keys, table.columns[column].key) == keys.end()) {
      continue;
    }
    std::size_t width = 0;
    for (auto& row : table.rows) {
      row[column] = number_text(row[column], digits);
      width = std::max(width, std::get<std::string>(row[column]).size());
    }
    for (auto& row : table.rows) {  // to the right, as numbers
      row[column] = fmt::format("{:>{}}", std::get<std::string>(row[column]), width);
    }
  }
  return table;
}

}  // namespace

RowErrors row_errors(const CalibrationContext& context, Use use) {
  const auto rows = std::ranges::count(context.measurements, use, &Measurement::use);
  return {static_cast<std::size_t>(rows), root_mean_square(context, use, &CalibratedRow::before),
          root_mean_square(context, use, &CalibratedRow::after)};
}

std::optional<double> other_error(const CalibrationContext& context) {
  return context.result.other ? root_of_mean(context, Use::Fit, context.result.other->cost) : std::nullopt;
}

output::Table calibrated_keys(const CalibrationContext& context) {
  output::Table table;
  table.columns = {{"key", "key"},
                   {"before", "before"},
                   {"after", "after"},
                   {"unit", "unit"},
                   {"low", "low"},
                   {"high", "high"},
                   {"bounds", "bounds"},
                   {"on_bound", "on bound"},
                   {"origin", "origin"},
                   {"known", "data say"},
                   {"sensitivity", "sensitivity", Show::Plain, 3},
                   {"standard_error", "standard error"},
                   {"percent_moves", "1 % moves it by"}};
  for (const CalibratedKey& one : context.result.keys) {
    const auto name = one.key.key.substr(one.key.key.find('.') + 1);
    table.rows.push_back({one.key.key, one.key.value, one.value, one.key.unit, one.key.low, one.key.high,
                          std::string(to_string(one.key.from)),
                          std::string(one.on_low()    ? "low"
                                      : one.on_high() ? "high"
                                                      : ""),
                          std::string(to_string(context.result.machine.origin(name))),
                          std::string(to_string(one.known)), one.sensitivity, cell_of(one.standard_error),
                          cell_of(one.percent_moves)});
  }
  return table;
}

output::Table calibrated_rows(const CalibrationContext& context) {
  output::Table table;
  table.columns = {{"row", "row"},
                   {"name", "name"},
                   {"trace", "trace"},
                   {"metric", "metric"},
                   {"unit", "unit"},
                   {"use", "use"},
                   {"weight", "weight", Show::Plain, 2, true},
                   {"measured", "measured"},
                   {"before", "said before"},
                   {"after", "said after"},
                   {"error_before", "error before", Show::Change},
                   {"error_after", "error after", Show::Change}};
  for (std::size_t i = 0; i < context.measurements.size(); ++i) {
    const Measurement& one = context.measurements[i];
    const CalibratedRow& row = context.result.rows[i];
    table.rows.push_back({std::uint64_t{i + 1}, one.name, one.input, one.metric,
                          experiment::find_metric(one.metric).unit, std::string(to_string(one.use)), one.weight,
                          one.value, row.before, row.after, cell_of(calibration::error_share(row.before, one.value)),
                          cell_of(calibration::error_share(row.after, one.value))});
  }
  return table;
}

std::string calibration_text(const CalibrationContext& context) {
  return fmt::format(
      "{}\n{:<9} {} ({})\n{:<9} {}\n{:<9} {}, {}, {}\n{:<9} {}\n\n{}\n{}", calibration_answer(context), "measured",
      text::printable(context.file), counted(context.measurements.size(), "row"), "machine",
      text::printable(context.result.machine.name), "fit", fmt::format("{}s", to_string(context.options.residual)),
      counted(context.result.evaluations, "evaluation"), stop_text(context.result.stop), "device", device_text(context),
      output::to_text(
          with_digits(with_digits(calibrated_keys(context), kValueDigits, {"before", "after", "low", "high"}),
                      kErrorDigits, {"standard_error", "percent_moves"})),
      output::to_text(with_digits(calibrated_rows(context), kValueDigits, {"measured", "before", "after"})));
}

output::Table calibration_rows(const CalibrationContext& context) {
  output::Table table = calibrated_rows(context);
  table.columns.push_back({"trace_hash", "trace hash"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].emplace_back(context.result.rows[i].trace_hash);
  }
  NamedCells cells;
  for (const CalibratedKey& one : context.result.keys) {
    cells.emplace_back(one.key.key, one.value);
  }
  cells.insert(cells.end(), {{"machine", context.result.machine.name},
                             {"residual", std::string(to_string(context.options.residual))},
                             {"measurements_hash", context.hash},
                             {"tool_version", std::string(RAYREPLAY_VERSION)},
                             {"device", device_text(context)}});
  return with_cells(std::move(table), cells);
}

nlohmann::ordered_json calibration_json(const CalibrationContext& context) {
  const calibration::Calibration& result = context.result;
  nlohmann::ordered_json document = {{"schema", "rayreplay.calibration/1"},
                                     {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
                                     {"device", device_text(context)},
                                     {"measurements", {{"file", context.file}, {"hash", context.hash}}}};
  document["common"] = settings_json(context.options.common);
  const auto errors = [&context](Use use) {
    const RowErrors of = row_errors(context, use);
    nlohmann::ordered_json object = {{"rows", of.rows}, {"before", nullptr}, {"after", nullptr}};
    if (of.before && of.after) {
      object["before"] = *of.before;
      object["after"] = *of.after;
    }
    return object;
  };
  std::vector<std::string> partners;
  for (const std::size_t key : result.partners) {
    partners.push_back(result.keys[key].key.key);
  }
  nlohmann::ordered_json condition;
  if (result.condition && std::isfinite(*result.condition)) {
    condition = *result.condition;
  }
  document["fit"] = {{"residual", to_string(context.options.residual)},
                     {"evaluations", result.evaluations},
                     {"most_evaluations", context.options.most_evaluations},
                     {"stop", stop_text(result.stop)},
                     {"cost_before", result.cost_before},
                     {"cost_after", result.cost_after},
                     {"condition", condition},
                     {"not_told_apart", partners},
                     {"other_end", other_end_json(context)},
                     {"rms_error", errors(Use::Fit)},
                     {"rms_error_held_out", errors(Use::Predict)}};
  document["machine"] = machine_json(result.machine);
  document["keys"] = to_json(calibrated_keys(context));
  nlohmann::ordered_json rows = to_json(calibrated_rows(context));
  for (std::size_t i = 0; i < context.measurements.size(); ++i) {
    rows[i]["trace_hash"] = result.rows[i].trace_hash;
    rows[i]["settings"] = row_settings(context.measurements[i]);
    rows[i]["resolved"] = result.rows[i].configuration;
  }
  document["rows"] = std::move(rows);
  return document;
}

std::string fitted_machine_file(const CalibrationContext& context) {
  std::string text =
      fmt::format("# Fitted by rayreplay {} calibrate to {} of {}\n# (hash {}).\n", RAYREPLAY_VERSION,
                  counted(row_errors(context, Use::Fit).rows, "row"), text::printable(context.file), context.hash);
  std::istringstream lines(calibration_answer(context));
  constexpr std::string_view kWord = "answer";
  for (std::string line; std::getline(lines, line);) {
    text += "# " + line.substr(line.find_first_not_of(' ', kWord.size())) + "\n";
  }
  return text + machine::to_toml_with_origins(context.result.machine);
}

}  // namespace rayreplay::report
