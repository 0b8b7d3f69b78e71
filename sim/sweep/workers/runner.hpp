// Runs a plan: on the cores of a machine, on its GPUs, on many machines.
//
// Contract: every run of the plan without a finished row in the database is evaluated once and added. Results do not
// depend on the distribution of work. Units start in the plan's order. Together they use at most `memory_bytes`: a run
// that exceeds it is retried alone, and becomes a row with an error if it still does. Failures of the evaluator are
// rows. Only Internal and Output errors, and changed inputs, end a sweep, after finished rows are written. After a stop
// (Ctrl-C, `stop.seconds`) nothing starts; running units get `grace_seconds`; finished rows are written. `stop.runs` =
// N: only the runs below N.
//
// `threads`: workers on the processor; each accelerator adds a worker. The calling thread writes all rows. The first
// units begin while the inputs are hashed; no row is taken before that is complete. `shard`: units by affinity
// (selection.hpp), so that shards share little.
//
// With a `team`, every rank calls `agree_on_sweep`, then `run_sweep` with its own database, or `attend_sweep` if it
// does not work. Each rank takes the next piece of work when it has room, and writes its own rows. A stop or an error
// of one rank ends the work of all; rank 0 throws the error. The report of rank 0 counts the rows of all ranks; its
// best is among its own rows. A rank with another content of an input ends the sweep with an error that names the rank
// and the file. Steps of a team: team.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/workers/team.hpp"
#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

/// Progress of the sweep, for a progress bar.
struct Standing {
  std::uint64_t done = 0, failed = 0, total = 0;  ///< `done` includes runs finished earlier
  double seconds = 0;
  double seconds_left = 0;  ///< estimated; < 0: unknown
  bool has_best = false;    ///< over all rows of the database
  std::uint64_t best_run = 0;
  double best = 0;
};

struct RunnerOptions {
  std::uint32_t threads = 0;       ///< 0: all cores that the process may use
  std::uint64_t memory_bytes = 0;  ///< limit of units under evaluation; 0: none
  std::vector<std::unique_ptr<Accelerator>> accelerators{};
  std::uint32_t shard = 0, shards = 1;  ///< shard counts from 0
  bool retry_errors = false;
  std::uint64_t most_now = 0;  ///< evaluates at most this many runs; 0: all
  double most_seconds = 0;     ///< 0: the definition's limit
  double grace_seconds = 10;
  std::function<bool()> stop_requested{};
  std::function<void(const Standing&)> show{};  ///< called several times a second
  Team* team = nullptr;
  std::optional<std::vector<bool>> finished{};  ///< by run; absent: as in the database
};

enum class SweepEnd { Finished, Stopped, TimeOver, CountReached };

struct SweepReport {
  SweepEnd end = SweepEnd::Finished;
  Standing standing;
  bool abandoned = false;  ///< units are still under evaluation: leave with _exit, destroy nothing that they use
};

[[nodiscard]] SweepReport run_sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options);
[[nodiscard]] SweepReport run_sweep(const Plan& plan, experiment::Evaluator& evaluator, ResultsWriter& results,
                                    RunnerOptions& options);

/// A step of a team: the finished runs, as rank 0 knows them (`finished`, on rank 0). Usage if a rank has another
/// version of rayreplay or another sweep.
[[nodiscard]] std::vector<bool> agree_on_sweep(Team& team, const Plan& plan,
                                               const std::function<std::vector<bool>()>& finished);
/// For a rank that lends its processors to another rank of its machine.
void attend_sweep(Team& team);

/// The input files of the sweep (traces, machines, hints; and workloads), by their names in the sweep, with their
/// current content hashes. Unreadable files are left out; their runs report the error. Throws the first one's error if
/// no trace or workload can be read.
[[nodiscard]] std::vector<InputFile> sweep_inputs(const Plan& plan, const Work& work);

}  // namespace rayreplay::sweep
