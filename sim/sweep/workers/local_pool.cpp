#include "sim/sweep/workers/local_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <iterator>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <sched.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "sim/sweep/workers/written_row.hpp"

namespace rayreplay::sweep {
namespace {

/// Cancels an evaluation from inside: every stage reports its progress here.
class CancelProgress : public Progress {
 public:
  explicit CancelProgress(const std::atomic<bool>& cancelled) : cancelled_(&cancelled) {}
  void start(std::string_view, std::uint64_t) override {
    check();
  }
  void advance(std::uint64_t) override {
    check();
  }
  void finish() override {}

 private:
  void check() const {
    if (*cancelled_) {
      throw Cancelled();
    }
  }
  const std::atomic<bool>* cancelled_;
};

/// "1.0 MiB": in the largest unit with a value of at least 1.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) {
    size /= 1024;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", size, kUnits.at(unit));
}

experiment::Failure too_large(std::uint64_t needed, std::uint64_t budget) {
  return {
      ErrorKind::Resource,
      {"the configuration needs more memory than the sweep may use", "--memory", "at least " + size_text(needed),
       fmt::format("at most {}", size_text(budget)), "give more memory with --memory, or run it on a larger machine"},
      needed};
}

experiment::Outcome failed(ErrorKind kind, const ErrorInfo& info) {
  experiment::Outcome outcome;
  outcome.failure = experiment::Failure{kind, info};
  return outcome;
}

}  // namespace

struct LocalPool::State {
  State(const Plan& the_plan, Work the_work, const PoolOptions& options)
      : plan(&the_plan),
        work(std::move(the_work)),
        memory_bytes(options.memory_bytes),
        parallelism(tbb::global_control::max_allowed_parallelism, options.threads),
        arena(static_cast<int>(options.threads)),
        threads(options.threads),
        workers(options.threads + options.accelerators.size()),
        side_by_side(workers),
        host(host_name()) {
    for (const Unit& unit : plan->units()) {
      ++by_affinity[unit.affinity];
      ++by_input[unit.input];
    }
    if (work.limit_memory && memory_bytes != 0) {
      work.limit_memory(memory_bytes);
    }
  }

  const Plan* plan;
  Work work;
  std::uint64_t memory_bytes;
  tbb::global_control parallelism;  ///< allows more threads than cores
  tbb::task_arena arena;            ///< shared by all threads
  std::uint32_t threads;
  std::uint64_t workers;
  std::uint64_t side_by_side;     ///< units evaluated at a time, as memory permits
  std::uint64_t sound_units = 0;  ///< units without a memory failure since `side_by_side` changed
  /// Number of units by affinity and by input; 0 once one of them has begun.
  std::unordered_map<std::uint64_t, std::uint64_t> by_affinity, by_input;
  std::string host;

  std::mutex mutex;
  std::condition_variable work_changed;  ///< queue, running, alone, stopping
  std::condition_variable result_came;
  std::deque<Task> queue;
  std::deque<TaskResult> results;
  std::uint64_t under_way = 0;  ///< tasks that a thread took from the queue, without a result yet
  std::uint64_t running = 0;    ///< of `under_way`: under evaluation
  std::uint64_t alone = 0;      ///< waiting for exclusive evaluation
  bool stopping = false;
  std::atomic<bool> cancelled{false};

  void run(Accelerator* accelerator);

 private:
  struct Prepared {
    TaskResult result;
    std::vector<std::size_t> sound;  ///< indices of complete rows to evaluate
  };
  void prepare(Prepared& prepared) const;
  void evaluate_rows(std::vector<ResultRow>& rows, std::span<const std::size_t> which, Accelerator* accelerator);
  /// `to_itself`: parallel loops use this thread alone. An exception becomes the result's error.
  void evaluate(Prepared& prepared, Accelerator* accelerator, bool to_itself, bool one_by_one);
  [[nodiscard]] static std::vector<std::size_t> rows_short_of_memory(const Prepared& prepared);
  /// The lock is held at the call and at the return.
  void evaluate_alone(Prepared& prepared, Accelerator* accelerator, std::unique_lock<std::mutex>& lock);
  void adjust(bool found_memory);
  [[nodiscard]] bool keeps_to_itself(const Task& task);
};

void LocalPool::State::prepare(Prepared& prepared) const {
  const std::string now = utc_now();
  for (const std::uint64_t run : prepared.result.task.runs) {
    ResultRow row = begin_row(*plan, run);
    row.host = host;
    row.started = now;
    if (!row.outcome.failure) {
      prepared.sound.push_back(prepared.result.rows.size());
    }
    prepared.result.rows.push_back(std::move(row));
  }
}

void LocalPool::State::evaluate_rows(std::vector<ResultRow>& rows, std::span<const std::size_t> which,
                                     Accelerator* accelerator) {
  std::vector<experiment::Settings> configurations;
  configurations.reserve(which.size());
  for (const std::size_t i : which) {
    configurations.push_back(rows[i].settings);
  }
  CancelProgress progress(cancelled);
  std::vector<experiment::Outcome> outcomes = work.evaluate(configurations, accelerator, &progress);
  if (outcomes.size() != which.size()) {
    throw Error(ErrorKind::Internal, {"an evaluation returned a wrong number of results", "",
                                      std::to_string(outcomes.size()), std::to_string(which.size()), ""});
  }
  for (std::size_t i = 0; i < which.size(); ++i) {
    rows[which[i]].outcome = std::move(outcomes[i]);
  }
}

void LocalPool::State::evaluate(Prepared& prepared, Accelerator* accelerator, bool to_itself, bool one_by_one) {
  const auto all = [&] {
    const std::span<const std::size_t> rows = prepared.sound;
    const std::size_t together = one_by_one ? 1 : rows.size();
    for (std::size_t first = 0; first < rows.size(); first += together) {
      evaluate_rows(prepared.result.rows, rows.subspan(first, together), accelerator);
    }
  };
  try {
    if (prepared.result.rows.empty()) {
      prepare(prepared);
    }
    if (accelerator == nullptr) {
      tbb::task_arena own(1);
      (to_itself ? own : arena).execute(all);
    } else {
      all();
    }
  } catch (...) {
    prepared.result.error = std::current_exception();
    prepared.result.rows.clear();
  }
}

/// True if a unit that begins now should use only its own thread. While waiting units keep every thread busy, shared
/// parallel loops cost more than they gain. At the end, threads without a unit help those with one. The first of
/// several units with a common input or structure computes it with all threads, because the others wait for it.
bool LocalPool::State::keeps_to_itself(const Task& task) {
  const bool leads = std::exchange(by_affinity[task.affinity], 0) > 1;
  const bool leads_input = std::exchange(by_input[plan->units()[task.id].input], 0) > 1;
  return !leads && !leads_input && queue.size() >= threads;
}

std::vector<std::size_t> LocalPool::State::rows_short_of_memory(const Prepared& prepared) {
  std::vector<std::size_t> rows;
  std::ranges::copy_if(prepared.sound, std::back_inserter(rows), [&](std::size_t row) {
    const auto& failure = prepared.result.rows[row].outcome.failure;
    return failure && failure->needed_bytes != 0;
  });
  return rows;
}

/// One unit fewer side by side after a memory failure; one more after as many successful units as there are workers.
void LocalPool::State::adjust(bool found_memory) {
  if (!found_memory) {
    side_by_side = std::max<std::uint64_t>(1, std::min(side_by_side, running + 1) - 1);
    sound_units = 0;
  } else if (side_by_side < workers && ++sound_units >= workers) {
    ++side_by_side;
    sound_units = 0;
  }
}

/// Evaluates again, one by one, the rows that found no memory beside others. Those that still find none get an error
/// with the memory that they need.
void LocalPool::State::evaluate_alone(Prepared& prepared, Accelerator* accelerator,
                                      std::unique_lock<std::mutex>& lock) {
  prepared.sound = rows_short_of_memory(prepared);
  if (prepared.sound.empty()) {
    return;
  }
  ++alone;
  work_changed.wait(lock, [this] { return stopping || running == 0; });
  if (!stopping) {
    ++running;
    lock.unlock();
    evaluate(prepared, accelerator, false, true);
    lock.lock();
    --running;
  }
  --alone;
  if (prepared.result.error) {
    return;
  }
  for (const std::size_t row : rows_short_of_memory(prepared)) {
    experiment::Outcome& outcome = prepared.result.rows[row].outcome;
    outcome.failure = too_large(outcome.failure->needed_bytes, memory_bytes);
  }
}

void LocalPool::State::run(Accelerator* accelerator) {
  std::unique_lock lock(mutex);
  for (;;) {
    work_changed.wait(lock, [this] { return stopping || (!queue.empty() && alone == 0 && running < side_by_side); });
    if (stopping) {
      return;
    }
    Prepared prepared;
    prepared.result.task = std::move(queue.front());
    queue.pop_front();
    ++under_way;
    ++running;
    const bool to_itself = keeps_to_itself(prepared.result.task);
    lock.unlock();
    evaluate(prepared, accelerator, to_itself, false);
    lock.lock();
    --running;
    work_changed.notify_all();
    bool dropped = false;
    if (!prepared.result.error) {
      adjust(rows_short_of_memory(prepared).empty());
      evaluate_alone(prepared, accelerator, lock);
      dropped = stopping && !prepared.result.error && !rows_short_of_memory(prepared).empty();
    }
    --under_way;
    for (ResultRow& row : prepared.result.rows) {
      as_written(*plan, row);
    }
    if (!dropped && !cancelled) {
      results.push_back(std::move(prepared.result));
    }
    result_came.notify_all();
    work_changed.notify_all();
  }
}

LocalPool::LocalPool(const Plan& plan, Work work, const PoolOptions& options)
    : state_(std::make_shared<State>(plan, std::move(work), options)) {
  std::vector<Accelerator*> workers(options.threads, nullptr);
  workers.insert(workers.end(), options.accelerators.begin(), options.accelerators.end());
  try {
    for (Accelerator* accelerator : workers) {
      threads_.emplace_back([state = state_, accelerator] { state->run(accelerator); });
    }
  } catch (...) {
    stop();  // the threads that were started are joined by their destructors
    throw;
  }
}

LocalPool::~LocalPool() {
  stop();
}

std::uint64_t LocalPool::capacity() const {
  constexpr std::uint64_t kOfAWorker = 3;
  return kOfAWorker * workers();
}

std::uint64_t LocalPool::workers() const {
  return threads_.size();
}

std::uint64_t LocalPool::outstanding() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.size() + state_->under_way + state_->results.size();
}

void LocalPool::submit(Task task) {
  const std::lock_guard lock(state_->mutex);
  state_->queue.push_back(std::move(task));
  state_->work_changed.notify_all();
}

std::optional<TaskResult> LocalPool::take(std::chrono::milliseconds wait) {
  std::unique_lock lock(state_->mutex);
  state_->result_came.wait_for(lock, wait, [this] { return !state_->results.empty(); });
  if (state_->results.empty()) {
    return std::nullopt;
  }
  TaskResult result = std::move(state_->results.front());
  state_->results.pop_front();
  return result;
}

void LocalPool::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->queue.clear();
  state_->work_changed.notify_all();
  state_->result_came.notify_all();
}

void LocalPool::cancel() {
  stop();
  state_->cancelled = true;
}

void LocalPool::abandon() {
  for (std::jthread& thread : threads_) {
    thread.detach();
  }
}

ResultRow begin_row(const Plan& plan, std::uint64_t run) {
  ResultRow row;
  row.run = run;
  const std::vector<ParameterValue> values = plan.values(run);
  for (std::size_t i = 0; i < values.size(); ++i) {
    row.axis_values.emplace_back(plan.keys()[i], values[i]);
  }
  try {
    row.settings = plan.settings(run);
    row.settings = experiment::complete(row.settings);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    row.outcome = failed(error.kind(), error.info());
  }
  return row;
}

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
    return static_cast<std::uint32_t>(CPU_COUNT(&set));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace rayreplay::sweep
