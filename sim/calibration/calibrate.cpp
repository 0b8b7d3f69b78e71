#include "sim/calibration/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/report_progress.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/metrics.hpp"

namespace rayreplay::calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using experiment::Outcome;
using experiment::Settings;

constexpr const char* kFit = "--fit";

class Calibrator {
 public:
  Calibrator(const std::vector<Measurement>& measurements, const CalibrationOptions& options,
             experiment::Evaluator& evaluator, Accelerator* accelerator, Progress* progress)
      : measurements_(&measurements),
        options_(&options),
        evaluator_(&evaluator),
        accelerator_(accelerator),
        progress_(progress) {
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      (measurements[i].use == Use::Fit ? fitted_ : predicted_).push_back(i);
    }
  }

  Calibration run() {
    check();
    report_start(progress_, "fitting", options_->most_evaluations);
    Calibration result;
    result.rows.resize(measurements_->size());
    const VectorXd before = present_values();
    for (const auto* rows : {&fitted_, &predicted_}) {
      const std::vector<Outcome> outcomes = evaluate(before, *rows);
      for (std::size_t i = 0; i < rows->size(); ++i) {
        result.rows[(*rows)[i]].before = said(outcomes[i], (*rows)[i]);
      }
    }
    result.cost_before = residuals_of(result.rows, &CalibratedRow::before).squaredNorm();
    require_movable();
    require_read();
    const Solution solution = solve();
    for (const auto* rows : {&fitted_, &predicted_}) {
      const std::vector<Outcome> outcomes = evaluate(solution.values, *rows);
      for (std::size_t i = 0; i < rows->size(); ++i) {
        CalibratedRow& row = result.rows[(*rows)[i]];
        row.after = said(outcomes[i], (*rows)[i]);
        row.trace_hash = outcomes[i].trace_hash;
        row.configuration = outcomes[i].configuration;
        row.device = outcomes[i].device;
      }
    }
    result.cost_after = solution.cost;
    result.stop = solution.stop;
    result.evaluations = solution.evaluations;
    result.other = solution.other;
    judge(solution, result);
    doubt(result);
    result.machine = machine_with(result.keys);
    report_finish(progress_);
    return result;
  }

 private:
  void check() const {
    if (fitted_.size() < options_->keys.size()) {
      throw Error(ErrorKind::Usage, {"there are fewer rows to fit than keys", kFit, counted(fitted_.size(), "row"),
                                     fmt::format("at least {}", counted(options_->keys.size(), "row")),
                                     "measure more launches, fit fewer keys, or hold fewer rows out"});
    }
    for (const Measurement& one : *measurements_) {
      for (const FittedKey& key : options_->keys) {
        if (one.settings.has(key.key)) {
          throw Error(ErrorKind::Usage, {"a key is both fitted and set by a row", one.place, "'" + key.key + "'",
                                         "one of the two", "remove the column, or do not fit the key"});
        }
      }
      if (options_->residual == Residual::Ratio && !(one.value > 0)) {
        throw Error(ErrorKind::Usage,
                    {"a ratio to this measured value does not exist", one.place + ", value",
                     fmt::format("{}", one.value), "a number above 0", "fit differences: --residual difference"});
      }
    }
    if (options_->most_evaluations < least_evaluations(options_->keys.size())) {
      throw Error(ErrorKind::Usage, {"the evaluations do not suffice for the keys", "--max-evaluations",
                                     fmt::format("{}", options_->most_evaluations),
                                     fmt::format("at least {}", least_evaluations(options_->keys.size())), ""});
    }
  }

  [[nodiscard]] VectorXd present_values() const {
    VectorXd values(static_cast<Index>(options_->keys.size()));
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      values[static_cast<Index>(i)] = options_->keys[i].value;
    }
    return values;
  }

  /// The completed settings of a row. Usage where the values do not fit it.
  [[nodiscard]] Settings settings_of(std::size_t row, const VectorXd& values) const {
    Settings settings = options_->common;
    for (const auto& [key, setting] : (*measurements_)[row].settings.all()) {
      settings.set(key, setting.value, setting.where);
    }
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      const FittedKey& key = options_->keys[i];
      settings.set(key.key, key.in_type(values[static_cast<Index>(i)]), kFit);
    }
    return experiment::complete(settings);
  }

  [[noreturn]] void fail(ErrorKind kind, ErrorInfo info, std::size_t row) const {
    const Measurement& one = (*measurements_)[row];
    const bool placed = info.where.starts_with(one.place);
    if (!placed) {
      info.where = info.where.empty() ? one.place : fmt::format("{}: {}", one.place, info.where);
    }
    throw Error(kind, std::move(info));
  }

  /// The model's value of a row.
  [[nodiscard]] double said(const Outcome& outcome, std::size_t row) const {
    if (outcome.failure) {
      fail(outcome.failure->kind, outcome.failure->info, row);
    }
    const std::string& name = (*measurements_)[row].metric;
    const auto found = std::ranges::find(outcome.metrics, name, &std::pair<std::string, double>::first);
    if (found == outcome.metrics.end()) {
      fail(ErrorKind::Missing, {"the experiment does not have this metric", "", "'" + name + "'", "", ""}, row);
    }
    if (options_->residual == Residual::Ratio && !(found->second > 0)) {
      fail(ErrorKind::Missing,
           {"a ratio to what the model says does not exist", "", fmt::format("{} = {}", name, found->second),
            "a number above 0", "fit differences (--residual difference), or leave the row out"},
           row);
    }
    return found->second;
  }

  /// Outcomes of rows at one point; every failure but those of single outcomes is thrown.
  std::vector<Outcome> evaluate(const VectorXd& values, const std::vector<std::size_t>& rows) {
    std::vector<Settings> configurations;
    for (const std::size_t row : rows) {
      try {
        configurations.push_back(settings_of(row, values));
      } catch (const Error& error) {
        fail(error.kind(), error.info(), row);
      }
    }
    return evaluator_->evaluate(configurations, accelerator_);
  }

  [[nodiscard]] double residual(double found, std::size_t row) const {
    const Measurement& one = (*measurements_)[row];
    return one.weight *
           (options_->residual == Residual::Ratio ? std::log(found) - std::log(one.value) : found - one.value);
  }

  [[nodiscard]] VectorXd residuals_of(const std::vector<CalibratedRow>& rows, double CalibratedRow::*value) const {
    VectorXd result(static_cast<Index>(fitted_.size()));
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      result[static_cast<Index>(i)] = residual(rows[fitted_[i]].*value, fitted_[i]);
    }
    return result;
  }

  /// True for an error of the values, not of the machine or the files.
  static bool is_refusal(ErrorKind kind) {
    return kind == ErrorKind::Usage || kind == ErrorKind::Missing;
  }

  /// Residuals of the fitted rows at several points, in one call of the evaluator; empty where a row refuses the point.
  std::vector<VectorXd> residuals_at(std::span<const VectorXd> points) {
    std::vector<VectorXd> result(points.size());
    std::vector<std::size_t> asked;  // points
    std::vector<Settings> configurations;
    for (std::size_t p = 0; p < points.size(); ++p) {
      try {
        std::vector<Settings> of_point;
        for (const std::size_t row : fitted_) {
          of_point.push_back(settings_of(row, points[p]));
        }
        std::ranges::move(of_point, std::back_inserter(configurations));
        asked.push_back(p);
      } catch (const Error& error) {
        if (!is_refusal(error.kind())) {
          throw;
        }
      }
    }
    const std::vector<Outcome> outcomes = evaluator_->evaluate(configurations, accelerator_);
    for (std::size_t a = 0; a < asked.size(); ++a) {
      VectorXd residuals(static_cast<Index>(fitted_.size()));
      try {
        for (std::size_t i = 0; i < fitted_.size(); ++i) {
          residuals[static_cast<Index>(i)] = residual(said(outcomes[a * fitted_.size() + i], fitted_[i]), fitted_[i]);
        }
        result[asked[a]] = std::move(residuals);
      } catch (const Error& error) {
        if (!is_refusal(error.kind())) {
          throw;
        }
      }
    }
    return result;
  }

  Solution solve() {
    std::vector<Variable> variables;
    for (const FittedKey& key : options_->keys) {
      variables.push_back({key.value, key.low, key.high, key.whole});
    }
    require_valued_start(variables);
    SolverOptions options;
    options.most_evaluations = options_->most_evaluations;
    std::size_t reported = 0;
    options.on_evaluated = [this, &reported](std::size_t evaluations, double) {
      report_advance(progress_, evaluations - std::exchange(reported, evaluations));
    };
    return least_squares([this](std::span<const VectorXd> points) { return residuals_at(points); }, variables, options);
  }

  /// Throws if the machine's values lie outside of the bounds, and a row refuses those on the bounds.
  void require_valued_start(const std::vector<Variable>& variables) {
    VectorXd start(static_cast<Index>(variables.size()));
    for (std::size_t i = 0; i < variables.size(); ++i) {
      start[static_cast<Index>(i)] = std::clamp(variables[i].start, variables[i].low, variables[i].high);
    }
    const std::vector<Outcome> outcomes = evaluate(start, fitted_);
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      static_cast<void>(said(outcomes[i], fitted_[i]));
    }
  }

  /// Usage for a key of which every value but the machine's contradicts the other keys: one of two keys that are given
  /// together. The other fitted keys have the machine's values, or values between their bounds.
  void require_movable() const {
    const VectorXd present = present_values();
    VectorXd between = present;
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      between[static_cast<Index>(i)] = (options_->keys[i].low + options_->keys[i].high) / 2;
    }
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      const FittedKey& key = options_->keys[i];
      std::optional<Error> refusal;
      bool moves = false;
      for (const double value : {key.low, (key.low + key.high) / 2, key.high}) {
        for (VectorXd values : {present, between}) {
          values[static_cast<Index>(i)] = value;
          if (moves || value == key.value) {
            continue;
          }
          try {
            static_cast<void>(settings_of(fitted_.front(), values));
            moves = true;
          } catch (const Error& error) {
            refusal = refusal ? refusal : error;
          }
        }
      }
      if (!moves && refusal) {
        throw Error(*refusal);
      }
    }
  }

  /// The keys of the results to fit, which are hashes of all that they depend on.
  [[nodiscard]] std::vector<std::string> result_keys(const VectorXd& values) const {
    std::vector<std::string> result;
    for (const std::size_t row : fitted_) {
      const experiment::Stage wanted = experiment::stage(experiment::find_metric((*measurements_)[row].metric).output);
      for (const experiment::StageForecast& one : evaluator_->forecast(settings_of(row, values))) {
        if (one.stage == wanted) {
          result.push_back(one.key);
        }
      }
    }
    return result;
  }

  /// Usage for a key that no stage of the rows to fit reads.
  void require_read() const {
    const VectorXd present = present_values();
    const std::vector<std::string> keys = result_keys(present);
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      const FittedKey& key = options_->keys[i];
      VectorXd other = present;
      other[static_cast<Index>(i)] = key.value == key.low ? key.high : key.low;
      try {
        if (result_keys(other) != keys) {
          continue;
        }
      } catch (const Error& error) {
        if (is_refusal(error.kind())) {
          continue;  // refused, and so read
        }
        throw;
      }
      std::vector<std::string> outputs;
      for (const std::size_t row : fitted_) {
        const std::string& output = experiment::find_metric((*measurements_)[row].metric).output;
        if (std::ranges::find(outputs, output) == outputs.end()) {
          outputs.push_back(output);
        }
      }
      throw Error(ErrorKind::Usage,
                  {"no measured metric depends on the key", kFit, "'" + key.key + "'",
                   fmt::format("a key that a stage of these rows reads (metrics of {})", fmt::join(outputs, ", ")),
                   "rayreplay list keys names the stages that read each key"});
    }
  }

  /// The measured difference of a residual of 1: differences count as shares of their root mean square.
  [[nodiscard]] double residual_scale() const {
    if (options_->residual == Residual::Ratio) {
      return 1;
    }
    double sum = 0;
    for (const std::size_t row : fitted_) {
      sum += (*measurements_)[row].value * (*measurements_)[row].value;
    }
    return sum > 0 ? std::sqrt(sum / static_cast<double>(fitted_.size())) : 1;
  }

  void judge(const Solution& solution, Calibration& result) const {
    constexpr double kPercent = 0.01;
    std::vector<bool> held;
    for (std::size_t i = 0; i < options_->keys.size(); ++i) {
      CalibratedKey key;
      key.key = options_->keys[i];
      key.value = solution.values[static_cast<Index>(i)];
      const double gradient = solution.jacobian.col(static_cast<Index>(i)).dot(solution.residuals);
      held.push_back((key.on_low() && gradient > 0) || (key.on_high() && gradient < 0));
      result.keys.push_back(std::move(key));
    }
    const double scale = residual_scale();
    const Determination found = determine(solution.jacobian / scale, solution.cost / (scale * scale), held);
    result.condition = found.condition;
    result.partners = found.partners;
    for (std::size_t i = 0; i < result.keys.size(); ++i) {
      CalibratedKey& key = result.keys[i];
      const Determination::Of& one = found.variables[i];
      const double by_u = key.value + Variable{.low = key.key.low}.offset();  // d value / d u
      key.known = one.known;
      key.sensitivity = one.sensitivity;
      key.reaction = one.reaction;
      if (one.standard_error) {
        key.standard_error = *one.standard_error * by_u;
      }
      if (one.reaction) {
        key.percent_moves = kPercent * *one.reaction * by_u;
      }
    }
  }

  /// Other values that fit as well: the data do not determine the keys that differ.
  static void doubt(Calibration& result) {
    if (!result.other_fits()) {
      return;
    }
    for (std::size_t i = 0; i < result.keys.size(); ++i) {
      CalibratedKey& key = result.keys[i];
      if (key.known == Known::Determined && result.other->differs[i]) {
        key.known = Known::Undetermined;
      }
    }
  }

  /// The common machine. An idle key keeps its origin, since nothing was learnt of it.
  [[nodiscard]] machine::Machine machine_with(const std::vector<CalibratedKey>& keys) const {
    constexpr std::string_view kTable = "machine.";
    Settings settings = options_->common;
    for (const CalibratedKey& one : keys) {
      settings.set(one.key.key, one.key.in_type(one.value), kFit);
    }
    const Settings complete = experiment::complete(settings, experiment::NamedInput::Elsewhere);
    machine::Machine machine = experiment::machine_of(complete);
    const machine::Machine before =
        experiment::machine_of(experiment::complete(options_->common, experiment::NamedInput::Elsewhere));
    for (const CalibratedKey& one : keys) {
      const std::string name = one.key.key.substr(kTable.size());
      machine.origins.insert_or_assign(name, one.known == Known::Idle ? before.origin(name) : machine::Origin::Fitted);
    }
    return machine;
  }

  const std::vector<Measurement>* measurements_;
  const CalibrationOptions* options_;
  experiment::Evaluator* evaluator_;
  Accelerator* accelerator_;
  Progress* progress_;
  std::vector<std::size_t> fitted_, predicted_;  // rows
};

}  // namespace

const char* to_string(Residual residual) {
  return residual == Residual::Ratio ? "ratio" : "difference";
}

Residual parse_residual(const std::string& name, const std::string& where) {
  const std::vector<std::string> names = {to_string(Residual::Ratio), to_string(Residual::Difference)};
  if (std::ranges::find(names, name) == names.end()) {
    const std::string near = nearest(name, names);
    usage("unknown kind of residual", where, "'" + name + "'", fmt::format("{}", fmt::join(names, " or ")),
          near.empty() ? "" : "did you mean '" + near + "'?");
  }
  return name == names.front() ? Residual::Ratio : Residual::Difference;
}

std::optional<double> error_share(double said, double measured) {
  return measured == 0 ? std::nullopt : std::optional(said / measured - 1);
}

Calibration calibrate(const std::vector<Measurement>& measurements, const CalibrationOptions& options,
                      experiment::Evaluator& evaluator, Accelerator* accelerator, Progress* progress) {
  return Calibrator(measurements, options, evaluator, accelerator, progress).run();
}

}  // namespace rayreplay::calibration
