// Working a plan off: on the cores of a machine, on its GPUs, on many machines.
//
// Contract: every run of the plan that is not finished in the database is evaluated once and added. Results do not
// depend on how work was shared out. Units are started in the plan's order. Together they take `memory_bytes` at most:
// a run that finds no memory is tried alone, and is a row with an error where it finds none then. The evaluator's
// failures are rows; only Internal and Output errors, and inputs that are not what they were, end a sweep,
// after what is finished has been written. A stop (Ctrl-C, `stop.seconds`) lets nothing start, waits for no unit longer
// than `grace_seconds`, and writes what is finished. `stop.runs` = N: the runs below N alone.
//   `threads`: workers on the processor; each accelerator is one worker more. Rows are written by the one thread that
// calls. The first units begin while the inputs are looked at; no row is taken before they are known. `shard`: units by
// affinity (selection.hpp), so that shards share little.
//   With a `team` every rank calls the same: `agree_on_sweep`, then `run_sweep` with a database of its own, or
// `attend_sweep` where it does not work. Each rank takes the next piece of the work when it has room, and writes its
// rows itself. A stop of one rank, and an error, end the work of all; rank 0 throws the error. The report of rank 0
// counts the rows of all ranks; its best is that of its own rows. Ranks that hold other contents of an input end the
// sweep with an error that names the rank and the file. Steps of a team: team.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "sim/experiment/stages/evaluator.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/workers/team.hpp"
#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

/// What the sweep looks like at a moment: for a progress bar.
struct Standing {
  std::uint64_t done = 0, failed = 0, total = 0;  ///< runs; those finished before count as done
  double seconds = 0;
  double seconds_left = 0;  ///< estimated; < 0: not known yet
  bool has_best = false;    ///< of all rows of the database
  std::uint64_t best_run = 0;
  double best = 0;
};

struct RunnerOptions {
  std::uint32_t threads = 0;       ///< 0: all cores that the process may use
  std::uint64_t memory_bytes = 0;  ///< of what is under way; 0: no limit
  std::vector<std::unique_ptr<Accelerator>> accelerators{};
  std::uint32_t shard = 0, shards = 1;  ///< shard counts from 0
  bool retry_errors = false;
  std::uint64_t most_now = 0;  ///< evaluate at most so many runs; 0: all
  double most_seconds = 0;     ///< 0: what the definition says
  double grace_seconds = 10;
  std::function<bool()> stop_requested{};
  std::function<void(const Standing&)> show{};  ///< several times a second
  Team* team = nullptr;
  std::optional<std::vector<bool>> finished{};  ///< by run; nothing: what the database says
};

enum class SweepEnd { Finished, Stopped, TimeOver, CountReached };

struct SweepReport {
  SweepEnd end = SweepEnd::Finished;
  Standing standing;
  bool abandoned = false;  ///< units are still being evaluated: leave with _exit, destroy nothing that they use
};

[[nodiscard]] SweepReport run_sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options);
[[nodiscard]] SweepReport run_sweep(const Plan& plan, experiment::Evaluator& evaluator, ResultsWriter& results,
                                    RunnerOptions& options);

/// A step of a team: what is finished by run, as rank 0 says (`finished`, on rank 0). Usage where a rank has another
/// version of rayreplay or another sweep.
[[nodiscard]] std::vector<bool> agree_on_sweep(Team& team, const Plan& plan,
                                               const std::function<std::vector<bool>()>& finished);
/// Of a rank that lends its processors to another of its machine.
void attend_sweep(Team& team);

/// The files (traces, machines, hints; and workloads) that the sweep reads, as it names them, and their content hashes
/// now. Those that cannot be read are left out: their runs say so. Throws the first one's error where no trace or
/// workload can be read.
[[nodiscard]] std::vector<InputFile> sweep_inputs(const Plan& plan, const Work& work);

}  // namespace rayreplay::sweep
