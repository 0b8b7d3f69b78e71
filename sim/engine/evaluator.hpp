// From settings to metrics: the stages of experiments, each computed once for all that share it.
//
// Contract: `evaluate` gives one outcome for each settings, in their order. A configuration that fails is an outcome
// with its error; it never throws for one (but for Internal errors, and for a cancelled run). Stages are pure
// functions: each result is kept by the hash of everything it depends on (trace content, settings that it reads, tool
// version, format of the stage), in memory while `memory_bytes` allows (least recently used out) and, where it is worth
// it (recorded streams, packings, metrics), in the store on disk. Many configurations of one call are evaluated by the
// cheapest way that gives the same numbers, as their stages know it: all scheduler models of one launch by one
// comparison, all caches of one recorded stream by shared passes (StageCode::numbers). Thread-safe: calls from
// several threads share results; a stage that several want is computed once, by the first, in isolation
// (tbb::this_task_arena::isolate), while the others wait. Metrics do not depend on how configurations are grouped, on
// threads, device or store. `accelerator`: one caller at a time each (base/accelerator.hpp).
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

/// A stage that an experiment needs, and whether it is there already.
struct StageForecast {
  Stage stage{};
  std::string key;                 ///< hash, 32 hexadecimal digits
  bool stored = false;             ///< on disk
  bool kept = false;               ///< in memory
  bool needed = false;             ///< to be computed
  std::uint64_t memory_bytes = 0;  ///< estimate: its result and what it works with; 0 where its numbers are there
};

/// Of one experiment at a time: all its stages together.
[[nodiscard]] std::uint64_t memory_of(std::span<const StageForecast> stages);

class Evaluator {
 public:
  explicit Evaluator(const EvaluatorOptions& options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// `complete` settings.
  [[nodiscard]] std::vector<Outcome> evaluate(std::span<const Settings> configurations,
                                              Accelerator* accelerator = nullptr, Progress* progress = nullptr);

  /// Decodes nothing of the trace: one pass over its bytes for the hash, once in the life of the evaluator. How good
  /// the estimates are: docs/stages.md. Usage and Input errors of the settings and the file are thrown.
  [[nodiscard]] std::vector<StageForecast> forecast(const Settings& complete);

  /// For commands that show more of a stage than its numbers: a trace that is loaded already as the input of complete
  /// settings, which must outlive the experiment, and a workbench for the functions of the stages' headers.
  [[nodiscard]] static Experiment open(const Settings& complete, std::shared_ptr<const InputData> data,
                                       const std::string& name);
  [[nodiscard]] Workbench workbench(Accelerator* accelerator, Progress* progress);

  /// In place of EvaluatorOptions::memory_bytes from now on, and for what stages work with too, all calls together: a
  /// configuration that finds no room beside the others fails (Failure::needed_bytes).
  void limit_memory(std::uint64_t bytes);

  /// Content hash of the trace or workload of complete settings; a file is hashed once while its size and time of
  /// change stay the same.
  [[nodiscard]] std::string input_hash(const Settings& complete);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::experiment
