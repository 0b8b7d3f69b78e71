// One experiment as the stages see it: settings, facts of the input, and the keys of its results.
//
// Contract: the settings must outlive the experiment, unless the trace decides one of them (`decided`). `facts` come
// from the input without decoding it; `opened` is the decoded input where a command has loaded it, otherwise a stage
// loads it. A `Failure` is the error of one experiment.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <variant>

#include "base/error.hpp"
#include "sim/engine/stage_input.hpp"
#include "sim/engine/stage_key.hpp"
#include "sim/engine/stage_metrics.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct Experiment {
  const Settings* settings = nullptr;  ///< complete
  std::shared_ptr<const InputFacts> facts;
  ExperimentKeys keys;
  std::shared_ptr<const InputData> opened{};
  std::shared_ptr<const Settings> decided{};  ///< `settings` with what the trace decides; null: nothing

  [[nodiscard]] const Key& key(Stage stage) const {
    return keys.stages[index_of(stage)];
  }
  /// Zeros if the input has no launch with the number of the key `launch`.
  [[nodiscard]] LaunchFacts launch() const {
    const auto number = static_cast<std::size_t>(settings->integer("launch"));
    return number < facts->launches.size() ? facts->launches[number] : LaunchFacts{};
  }
};

struct Failure {
  ErrorKind kind = ErrorKind::Internal;
  ErrorInfo info;
  /// Not 0: the run exceeded `Evaluator::limit_memory`; a lower bound of the memory that it needs.
  std::uint64_t needed_bytes = 0;
};

/// The result of a stage for one experiment.
using Made = std::variant<MetricSet, Failure>;

/// An exception as a failure of one experiment; Internal errors and cancellation are rethrown.
[[nodiscard]] Failure failure_of(const std::exception_ptr& thrown);
[[nodiscard]] std::exception_ptr thrown_of(const Failure& failure);

/// The key under which a stage's metrics are kept.
[[nodiscard]] Key numbers_key(Stage stage, const Experiment& experiment);

}  // namespace rayreplay::experiment
