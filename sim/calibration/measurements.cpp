#include "sim/calibration/measurements.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/toml_value.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::calibration {
namespace {

constexpr std::array<std::string_view, 3> kNeeded = {"trace", "metric", "value"};
constexpr std::array<std::string_view, 3> kOptional = {"weight", "name", "use"};

/// Keys that a column cannot set, and what to do instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOwnKeys = {{
    {"workload", "put the workload's spec into the column trace"},
    {"outputs", "leave it out: the metric says which stage runs"},
    {experiment::kMachineName, "name the machine with --machine: one machine is calibrated at a time"},
}};

bool is_own(std::string_view name) {
  return std::ranges::find(kNeeded, name) != kNeeded.end() || std::ranges::find(kOptional, name) != kOptional.end();
}

/// Puts the place in front of an error of a cell.
template <class Act>
auto at_place(const std::string& place, const Act& act) {
  try {
    return act();
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.where = place;
    throw Error(error.kind(), info);
  }
}

std::string in_folder(const std::string& path, const std::string& folder) {
  return folder.empty() || std::filesystem::path(path).is_absolute()
             ? path
             : (std::filesystem::path(folder) / path).lexically_normal().string();
}

bool is_workload(const std::string& text) {
  const std::vector<std::string> names = workloads::Workloads::names();
  return std::ranges::find(names, text.substr(0, text.find(':'))) != names.end();
}

void check_columns(const CsvTable& table) {
  const std::vector<std::string>& names = table.header.cells;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::string place = table.place(table.header, i);
    if (is_own(name)) {
      continue;
    }
    for (const auto& [key, instead] : kOwnKeys) {
      if (name.substr(0, name.find(':')) == key) {
        throw Error(ErrorKind::Usage, {"the calibration sets this key itself", place, "'" + name + "'",
                                       "another key of an experiment", std::string(instead)});
      }
    }
    if (experiment::find_parameter(name) == nullptr) {
      std::vector<std::string> own(kNeeded.begin(), kNeeded.end());
      own.insert(own.end(), kOptional.begin(), kOptional.end());
      const std::string near = nearest(name, own);
      if (!near.empty() && !table.column(near)) {
        throw Error(ErrorKind::Usage, {"unknown column", place, "'" + name + "'",
                                       fmt::format("{}, {} or a key of an experiment", fmt::join(kNeeded, ", "),
                                                   fmt::join(kOptional, ", ")),
                                       "did you mean '" + near + "'?"});
      }
    }
    at_place(place, [&] { experiment::require_read_by_stage(name, place); });
  }
  for (const std::string_view name : kNeeded) {
    if (!table.column(name)) {
      throw Error(ErrorKind::Input, {"a column is missing", fmt::format("{}:{}", table.source, table.header.line),
                                     fmt::format("{}", fmt::join(names, ", ")), fmt::format("a column '{}'", name),
                                     "the header line has trace, metric and value"});
    }
  }
}

class RowReader {
 public:
  RowReader(const CsvTable& table, const std::string& folder) : table_(&table), folder_(&folder) {}

  [[nodiscard]] Measurement read(std::size_t number) const {
    const CsvRow& row = table_->rows[number];
    Measurement result;
    result.place = fmt::format("{}:{}", table_->source, row.line);
    result.name = cell(row, "name");
    if (result.name.empty()) {
      result.name = fmt::format("row {}", number + 1);
    }
    result.input = needed(row, "trace");
    result.metric = needed(row, "metric");
    static_cast<void>(needed(row, "value"));
    result.value = number_of(row, "value");
    if (!cell(row, "weight").empty()) {
      result.weight = number_of(row, "weight");
      if (!(result.weight > 0)) {
        wrong(row, "weight", "a weight is not above 0", "a number above 0",
              "a row with 'predict' in the column use is held out of the fit");
      }
    }
    const std::string use = cell(row, "use");
    if (!use.empty() && use != to_string(Use::Fit) && use != to_string(Use::Predict)) {
      const std::string near = nearest(use, {to_string(Use::Fit), to_string(Use::Predict)});
      wrong(row, "use", "a row is neither fitted nor predicted", "fit or predict",
            near.empty() ? "" : "did you mean '" + near + "'?");
    }
    result.use = use == to_string(Use::Predict) ? Use::Predict : Use::Fit;
    set_keys(row, result);
    return result;
  }

 private:
  [[nodiscard]] std::string place(const CsvRow& row, std::string_view column) const {
    return table_->place(row, *table_->column(column));
  }

  [[noreturn]] void wrong(const CsvRow& row, std::string_view column, std::string what, std::string expected,
                          std::string fix) const {
    throw Error(ErrorKind::Input, {std::move(what), place(row, column), "'" + cell(row, column) + "'",
                                   std::move(expected), std::move(fix)});
  }

  /// Empty where there is no such column.
  [[nodiscard]] std::string cell(const CsvRow& row, std::string_view column) const {
    const auto index = table_->column(column);
    return index ? row.cells[*index] : std::string();
  }

  [[nodiscard]] std::string needed(const CsvRow& row, std::string_view column) const {
    std::string text = cell(row, column);
    if (text.empty()) {
      wrong(row, column, "a cell is empty", fmt::format("a {}", column), "");
    }
    return text;
  }

  [[nodiscard]] double number_of(const CsvRow& row, std::string_view column) const {
    const std::string text = cell(row, column);
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !std::isfinite(value)) {
      wrong(row, column, "a cell is not a number", "a finite number such as 0.562",
            "write it without unit, with a decimal point and without separators of thousands");
    }
    return value;
  }

  void set_keys(const CsvRow& row, Measurement& result) const {
    const experiment::Metric& metric = at_place(
        place(row, "metric"), [&]() -> const experiment::Metric& { return experiment::find_metric(result.metric); });
    experiment::Settings& settings = result.settings;
    settings.set("outputs", metric.output, place(row, "metric"));
    const std::string where = place(row, "trace");
    at_place(where, [&] {
      if (is_workload(result.input)) {
        static_cast<void>(workloads::Workloads::create(result.input));
        settings.set("workload", result.input, where);
        settings.set("trace", std::string(), where);
      } else {
        settings.set("trace", in_folder(result.input, *folder_), where);
        settings.set("workload", std::string(), where);
      }
    });
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& key = table_->header.cells[i];
      if (is_own(key) || row.cells[i].empty()) {
        continue;
      }
      const std::string value = experiment::with_paths(
          key, row.cells[i], [this](const std::string& path) { return in_folder(path, *folder_); });
      at_place(table_->place(row, i),
               [&] { settings.set(key, value, fmt::format("{}:{}", table_->source, row.line)); });
    }
  }

  const CsvTable* table_;
  const std::string* folder_;
};

}  // namespace

const char* to_string(Use use) {
  return use == Use::Fit ? "fit" : "predict";
}

std::vector<Measurement> parse_measurements(std::string_view csv, const std::string& source,
                                            const std::string& folder) {
  const CsvTable table = parse_csv(csv, source, kMaxMeasurements);
  check_columns(table);
  if (table.rows.empty()) {
    throw Error(ErrorKind::Input,
                {"the file has no measurements", source, "a header line alone", "at least one row", ""});
  }
  const RowReader reader(table, folder);
  std::vector<Measurement> result;
  result.reserve(table.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    result.push_back(reader.read(i));
  }
  return result;
}

void hold_out(std::vector<Measurement>& measurements, const std::string& name_or_number, const std::string& where) {
  bool found = false;
  for (Measurement& one : measurements) {
    if (one.name == name_or_number) {
      one.use = Use::Predict;
      found = true;
    }
  }
  if (found) {
    return;
  }
  std::size_t number = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto [stop, error] = std::from_chars(name_or_number.data(), end, number);
  if (error == std::errc() && stop == end && number >= 1 && number <= measurements.size()) {
    measurements[number - 1].use = Use::Predict;
    return;
  }
  std::vector<std::string> names;
  for (const Measurement& one : measurements) {
    names.push_back(one.name);
  }
  const std::string near = nearest(name_or_number, names);
  throw Error(ErrorKind::Usage, {"no row has this name or number", where, "'" + name_or_number + "'",
                                 fmt::format("a name, or a number from 1 to {}", measurements.size()),
                                 near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::calibration
