// Evaluator: from settings to metrics. Each stage's result is computed once for all experiments that share it.
//
// Contract: `evaluate` returns one outcome per configuration, in order. A configuration that fails gives an outcome
// with its error; only Internal errors and cancelled runs are thrown. Stages are pure functions: a result is kept under
// the hash of all it depends on (trace content, settings read, tool version, stage format), in memory up to
// `memory_bytes` (least recently used evicted) and, where worth it (recorded streams, packings, metrics), in the store
// on disk. Configurations of one call are computed together where a stage can (StageCode::numbers): all scheduler
// models of a launch in one comparison, all caches of a stream in shared passes. Metrics do not depend on the grouping,
// threads, device or store. Thread-safe: a result that several calls need is computed by the first, in isolation
// (tbb::this_task_arena::isolate); the others wait. `accelerator`: one caller at a time (base/accelerator.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "base/progress.hpp"
#include "sim/engine/experiment.hpp"
#include "sim/engine/store/store.hpp"
#include "sim/engine/workbench.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct Outcome {
  std::vector<std::pair<std::string, double>> metrics;  ///< in the order of all_metrics(); none of a failure
  std::optional<Failure> failure;
  std::string configuration;  ///< TOML: complete, and resolved against the trace; of a failure as far as known
  std::string trace_hash;     ///< of a workload: the hash of its spec and version
  std::string device;         ///< "CPU", "NVIDIA H200, CPU"
  double seconds = 0;         ///< share of the wall clock of the call; not reproducible
};

struct EvaluatorOptions {
  Store* store = nullptr;  ///< null: nothing is kept on disk
  std::uint64_t memory_bytes = std::uint64_t{2} << 30U;
};

/// A stage that an experiment needs, and whether its result is kept already.
struct StageForecast {
  Stage stage{};
  std::string key;                 ///< hash, 32 hexadecimal digits
  bool stored = false;             ///< on disk
  bool kept = false;               ///< in memory
  bool needed = false;             ///< to be computed
  std::uint64_t memory_bytes = 0;  ///< estimate: result and working memory; 0 if its metrics are kept or stored
};

/// Memory of one experiment: all its stages together.
[[nodiscard]] std::uint64_t memory_of(std::span<const StageForecast> stages);

/// Throws Usage if the output, or a stage that it needs, cannot work with the settings.
void check_output(Stage output, const Experiment& experiment);
/// The notes (StageCode::notes) of the output and of the stages that it needs.
[[nodiscard]] std::vector<std::string> notes_on(Stage output, const Experiment& experiment);

class Evaluator {
 public:
  explicit Evaluator(const EvaluatorOptions& options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// `configurations` are complete settings.
  [[nodiscard]] std::vector<Outcome> evaluate(std::span<const Settings> configurations,
                                              Accelerator* accelerator = nullptr, Progress* progress = nullptr);

  /// Decodes nothing: one pass over the trace's bytes for its hash, once per evaluator. Accuracy of the estimates:
  /// docs/stages.md. Throws Usage and Input errors of the settings and the file.
  [[nodiscard]] std::vector<StageForecast> forecast(const Settings& complete);

  /// Throws the error that `evaluate` would report before it computes anything: settings that contradict each other or
  /// the input, files that cannot be read.
  void check(const Settings& complete);

  /// notes_on of all outputs, each note once.
  [[nodiscard]] std::vector<std::string> notes(const Settings& complete);

  /// The settings with what the input decides (thread_registers.hpp), as `evaluate` takes them.
  [[nodiscard]] Settings decided(const Settings& complete);

  /// For commands that show more than metrics: an experiment on a loaded trace, for a workbench and the functions of
  /// the stages' headers. `complete` must outlive it.
  [[nodiscard]] static Experiment open(const Settings& complete, std::shared_ptr<const InputData> data,
                                       const std::string& name);
  [[nodiscard]] Workbench workbench(Accelerator* accelerator, Progress* progress);

  /// Replaces EvaluatorOptions::memory_bytes, and includes the working memory of stages of all calls: a configuration
  /// whose reservation does not fit fails (Failure::needed_bytes).
  void limit_memory(std::uint64_t bytes);

  /// Content hash of the trace or workload of complete settings; a file is hashed again only if its size or time of
  /// change differs.
  [[nodiscard]] std::string input_hash(const Settings& complete);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::experiment
