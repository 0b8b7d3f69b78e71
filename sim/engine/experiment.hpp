// One experiment as the stages see it: settings, what is known of the input, and the names of its results.
//
// Contract: an experiment refers to its settings, which must outlive it. `facts` come from the input without decoding
// it; `opened` is the decoded input where a command has it already, otherwise it is loaded when a stage needs it.
// A `Failure` is the outcome of an experiment that cannot be computed: an error that belongs to it alone.
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

  [[nodiscard]] const Key& key(Stage stage) const {
    return keys.stages[index_of(stage)];
  }
  /// Zeros where the input has no launch of the number.
  [[nodiscard]] LaunchFacts launch() const {
    const auto number = static_cast<std::size_t>(settings->integer("launch"));
    return number < facts->launches.size() ? facts->launches[number] : LaunchFacts{};
  }
};

struct Failure {
  ErrorKind kind = ErrorKind::Internal;
  ErrorInfo info;
  std::uint64_t needed_bytes =
      0;  ///< 0, or: `limit_memory` was in the way, and at least so much would have been needed
};

/// What a stage gives for one experiment.
using Made = std::variant<MetricSet, Failure>;

/// What was thrown, as a failure of an experiment; rethrown where it is none (Internal, a cancelled run).
[[nodiscard]] Failure failure_of(const std::exception_ptr& thrown);
[[nodiscard]] std::exception_ptr thrown_of(const Failure& failure);

/// Under which a stage's numbers are kept.
[[nodiscard]] Key numbers_key(Stage stage, const Experiment& experiment);

}  // namespace rayreplay::experiment
