// A process that works for rank 0.
//
// Contract: evaluates what rank 0 assigns with a LocalPool and sends the rows, until rank 0 says Stop. Its own errors
// are sent to rank 0, which ends the sweep with them. A stop that this process is asked for (`stop_requested`) is
// passed on to rank 0. Where nothing was heard from rank 0 for `silent_seconds` the end has an error (Resource).
// `sleep_until_stop` is the same for a rank that has lent its processors to another of its machine; `report_trouble`
// for one that cannot even begin.
#pragma once

#include <functional>
#include <optional>

#include "base/error.hpp"
#include "sim/sweep/workers/link.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "sim/sweep/workers/messages.hpp"
#include "sim/sweep/workers/runner.hpp"

namespace rayreplay::sweep {

struct WorkerEnd {
  bool finalize = true;           ///< all ranks are there
  bool abandoned = false;         ///< units are still being evaluated: leave with _exit
  std::optional<Error> silent{};  ///< nothing was heard from rank 0, which therefore tells nobody
};

[[nodiscard]] WorkerEnd run_worker(const Plan& plan, const Work& work, RunnerOptions& options);
[[nodiscard]] WorkerEnd sleep_until_stop(Link& link, const RunnerOptions& options);
[[nodiscard]] WorkerEnd report_trouble(Link& link, ErrorKind kind, const ErrorInfo& info, double silent_seconds);

}  // namespace rayreplay::sweep
