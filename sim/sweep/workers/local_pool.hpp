// The workers of one machine: threads that evaluate units. Each processor thread and each accelerator evaluates one
// unit at a time.
//
// Contract: tasks start in the order of submission. Runs that exceed the memory limit beside others
// (Failure::needed_bytes) are evaluated again alone, and fewer units then run side by side; the number rises again with
// success. A run that exceeds the limit alone, one that cannot be completed, and one that fails are rows with an error.
// Internal errors are not the configuration's fault and are returned as `error` of the result.
//
// While there are units for every thread, each unit uses one thread, which is cheapest. The last units, and units that
// compute a result others wait for, also use idle threads for their parallel loops; never more than `threads` run.
// `stop` drops tasks that have not begun; `cancel` also ends running ones at their next progress report; neither waits.
// The destructor waits for the threads. Threads given up with `abandon` may still run: the process must then leave with
// _exit, without destroying plan, evaluator or accelerators.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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
  /// Number of submitted and untaken tasks that keeps every worker busy while rows are written.
  [[nodiscard]] std::uint64_t capacity() const;
  /// Tasks submitted, and neither taken nor dropped.
  [[nodiscard]] std::uint64_t outstanding() const;
  void submit(Task task);
  [[nodiscard]] std::optional<TaskResult> take(std::chrono::milliseconds wait);

  void stop();
  void cancel();
  void abandon();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::vector<std::jthread> threads_;
};

/// The row of a run without its result; with the failure if the settings cannot be completed.
[[nodiscard]] ResultRow begin_row(const Plan& plan, std::uint64_t run);
[[nodiscard]] std::string utc_now();  ///< "2026-01-31T12:00:00Z"
/// Processors available to this process.
[[nodiscard]] std::uint32_t usable_cores();

}  // namespace rayreplay::sweep
