// Working a plan off: on the cores of a machine, on its GPUs, on many machines.
//
// Contract: every run of the plan that is not finished in the database is evaluated once and added. Results do not
// depend on how work was shared out. Units are started in the plan's order while their forecast memory fits beside that
// of the units under way (`memory_bytes`); one that does not fit by itself gives rows with an error. The evaluator's
// failures are rows; only Internal and Output errors end a sweep, after what is finished has been written. A stop
// (Ctrl-C, `stop.seconds`) lets nothing start, waits for no unit longer than `grace_seconds`, and writes what is
// finished.
//   `threads`: workers on the processor; each accelerator is one worker more. Rows are written by the one thread that
// calls. `shard`: the units i, i + N, … by affinity, so that shards share little.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/accelerator.hpp"
#include "sim/experiment/stages/evaluator.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

/// What the sweep looks like at a moment: for a progress bar.
struct Standing {
  std::uint64_t done = 0, failed = 0, total = 0;  ///< runs; those finished before count as done
  double seconds = 0;
  double seconds_left = 0;  ///< estimated; < 0: not known yet
  bool has_best = false;
  std::uint64_t best_run = 0;
  double best = 0;
  std::vector<std::string> notes;  ///< lost workers and the like, each once
};

struct RunnerOptions {
  std::uint32_t threads = 0;       ///< 0: all cores
  std::uint64_t memory_bytes = 0;  ///< 0: most of what is available
  std::vector<std::unique_ptr<kernels::Accelerator>> accelerators{};
  std::uint32_t shard = 0, shards = 1;  ///< shard counts from 0
  bool retry_errors = false;
  double grace_seconds = 10;
  std::function<bool()> stop_requested{};
  std::function<void(const Standing&)> show{};  ///< several times a second
};

enum class SweepEnd { Finished, Stopped, TimeOver };

struct SweepReport {
  SweepEnd end = SweepEnd::Finished;
  Standing standing;
};

[[nodiscard]] SweepReport run_sweep(const Plan& plan, experiment::Evaluator& evaluator, ResultsWriter& results,
                                    RunnerOptions& options);

}  // namespace rayreplay::sweep
