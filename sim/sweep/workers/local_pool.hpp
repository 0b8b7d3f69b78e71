// The workers of one machine: threads that evaluate units, each processor thread and each accelerator one unit at a
// time.
//
// Contract: tasks are taken up in the order in which they were submitted. Runs that find no memory beside others
// (Failure::needed_bytes) are evaluated again with nothing else under way, and fewer units then run side by side; their
// number rises again while all goes well. A run that finds no memory even so, one that cannot be completed, and one
// that fails are rows with an error; what is no failure of a configuration (Internal errors) comes as `error` of the
// result.
//   While there are units for every thread, each keeps to its own, which costs least; of the last ones, and where a
//   unit
// makes what others wait for, what is done in parallel inside uses the threads that have none: never more run than
// `threads`. What no other unit of the plan shares is forgotten once it has been used. `stop` drops what has not begun;
// `cancel` also ends what is under way, as far as evaluation listens; neither waits. The destructor waits for the
// threads, but for those that `abandon` has given up: after it the process must be left with _exit, without destroying
// plan, evaluator or accelerators.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/workers/selection.hpp"
#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

struct TaskResult {
  Task task;
  std::vector<ResultRow> rows;  ///< by task.runs
  std::exception_ptr error{};   ///< then no rows
};

struct PoolOptions {
  std::uint32_t threads = 1;
  std::uint64_t memory_bytes = 0;  ///< 0: no limit
  std::vector<Accelerator*> accelerators{};
};

class LocalPool {
 public:
  LocalPool(const Plan& plan, Work work, const PoolOptions& options);
  ~LocalPool();
  LocalPool(const LocalPool&) = delete;
  LocalPool& operator=(const LocalPool&) = delete;

  [[nodiscard]] std::uint64_t workers() const;
  /// How many tasks should be submitted and not taken, so that no worker waits while rows are written.
  [[nodiscard]] std::uint64_t capacity() const;
  /// Submitted, and neither taken nor dropped.
  [[nodiscard]] std::uint64_t outstanding() const;
  void submit(Task task);
  [[nodiscard]] std::optional<TaskResult> take(std::chrono::milliseconds wait);

  void stop();
  void cancel();
  void abandon();

 private:
  struct State;
  std::shared_ptr<State> state_;
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

/// The row of a run without its outcome; where the settings cannot be completed, with that failure.
[[nodiscard]] ResultRow begin_row(const Plan& plan, std::uint64_t run);
[[nodiscard]] std::string host_name();
[[nodiscard]] std::string utc_now();  ///< "2026-01-31T12:00:00Z"
/// Processors that this process may run on.
[[nodiscard]] std::uint32_t usable_cores();

}  // namespace rayreplay::sweep
