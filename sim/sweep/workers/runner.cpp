#include "sim/sweep/workers/runner.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/definition/paths.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "sim/sweep/workers/peers.hpp"
#include "sim/sweep/workers/tally.hpp"
#include "sim/sweep/workers/unit_queue.hpp"

namespace rayreplay::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWait{100};
constexpr std::chrono::milliseconds kWaitWithPeers{2};
constexpr std::chrono::milliseconds kShow{100};
/// A disk that is quick is asked more often than every kCommitSeconds: committing costs a fiftieth of the time.
constexpr double kCommitShare = 50;
constexpr double kLeastCommitSeconds = 0.02;
/// After a cancel: evaluation looks at it several times a second.
constexpr double kCancelSeconds = 3;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// Once: whoever called may have to do it as well.
void dismiss_others(RunnerOptions& options) noexcept {
  try {
    if (options.link != nullptr) {
      dismiss(*std::exchange(options.link, nullptr));
    }
  } catch (...) {  // the error that led here is the one to tell
  }
}

/// One sweep at work. Not for use after an exception but for its destructor.
class Sweep {
 public:
  Sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options, Selection selection)
      : plan_(&plan),
        work_(&work),
        results_(&results),
        options_(&options),
        tally_(selection.total, selection.finished, wanted(selection), plan.definition().objective),
        cut_short_(selection.finished + wanted(selection) < selection.total),
        queue_(std::move(selection.tasks)),
        pool_(plan, work, pool_options(options)),
        peers_(options.link, plan, peers_options(options, plan)),
        most_seconds_(options.most_seconds > 0 ? options.most_seconds : plan.definition().most_seconds) {
    if (const auto& objective = plan.definition().objective) {
      tally_.begin_with(results.best(objective->metric, objective->goal));
    }
  }

  SweepReport run() {
    try {
      if (!stop_reason()) {
        feed_pool();
      }
      look_at_inputs();
      while (!stop_reason() && !finished()) {
        step();
      }
      return leave();
    } catch (...) {
      rescue();
      throw;
    }
  }

 private:
  static std::uint64_t wanted(const Selection& selection) {
    std::uint64_t runs = 0;
    for (const Task& task : selection.tasks) {
      runs += task.runs.size();
    }
    return runs;
  }

  static PoolOptions pool_options(const RunnerOptions& options) {
    PoolOptions result;
    result.threads = options.threads > 0 ? options.threads : usable_cores();
    result.memory_bytes = options.memory_bytes;
    for (const auto& accelerator : options.accelerators) {
      result.accelerators.push_back(accelerator.get());
    }
    return result;
  }

  static PeersOptions peers_options(const RunnerOptions& options, const Plan& plan) {
    PeersOptions result;
    result.silent_seconds = options.silent_seconds;
    result.own = {host_name(), RAYREPLAY_VERSION, definition_hash(plan.definition()), plan.runs(), 1, {}};
    return result;
  }

  /// While the first units are evaluated already: no row is taken, and no other process is heard, before it is known
  /// that the inputs are what they were.
  void look_at_inputs() {
    std::vector<InputFile> inputs;
    beat_meanwhile(options_->link, [&] { inputs = sweep_inputs(*plan_, *work_); });
    for (const InputFile& input : inputs) {
      results_->check_input(input);
    }
    peers_.expect(std::move(inputs));
  }

  [[nodiscard]] bool finished() const {
    return queue_.empty() && pool_.outstanding() == 0 && peers_.outstanding() == 0;
  }

  [[nodiscard]] std::optional<SweepEnd> stop_reason() const {
    if ((options_->stop_requested && options_->stop_requested()) || peers_.stop_wanted()) {
      return SweepEnd::Stopped;
    }
    if (most_seconds_ > 0 && tally_.seconds() >= most_seconds_) {
      return SweepEnd::TimeOver;
    }
    return std::nullopt;
  }

  void step() {
    peers_.feed(queue_);
    feed_pool();
    collect(peers_.any() ? kWaitWithPeers : kWait);
    add(peers_.poll(queue_));
    commit_and_show(false);
  }

  void feed_pool() {
    while (pool_.outstanding() < pool_.capacity()) {
      std::optional<Task> task = peers_.any() ? queue_.next(affinity_) : queue_.first();
      if (!task) {
        break;
      }
      affinity_ = task->affinity;
      pool_.submit(std::move(*task));
    }
  }

  void collect(std::chrono::milliseconds wait) {
    while (std::optional<TaskResult> result = pool_.take(wait)) {
      if (result->error) {
        std::rethrow_exception(result->error);
      }
      add(std::move(result->rows));
      wait = std::chrono::milliseconds(0);
    }
  }

  void add(const std::vector<ResultRow>& rows) {
    if (!rows.empty()) {
      results_->add(rows);
      tally_.add(rows);
    }
  }

  void commit_and_show(bool now) {
    if (now || since(committed_) >= commit_every_) {
      const Clock::time_point begun = Clock::now();
      results_->commit();
      committed_ = Clock::now();
      commit_every_ = std::clamp(kCommitShare * since(begun), kLeastCommitSeconds, kCommitSeconds);
    }
    for (const std::string& note : peers_.take_notes()) {
      tally_.note(note);
    }
    if (options_->show && (now || Clock::now() - shown_ >= kShow)) {
      options_->show(tally_.standing());
      shown_ = Clock::now();
    }
  }

  SweepReport leave() {
    SweepReport report;
    const std::optional<SweepEnd> stopped = finished() ? std::nullopt : stop_reason();
    report.end = stopped ? *stopped : cut_short_ ? SweepEnd::CountReached : SweepEnd::Finished;
    const double grace = stopped ? options_->grace_seconds : 0;
    queue_.clear();
    pool_.stop();
    // What is there already is safe before anything is waited for: the next signal may be the last.
    collect(std::chrono::milliseconds(0));
    commit_and_show(true);
    peers_.stop(grace);
    const Clock::time_point begun = Clock::now();
    while (pool_.outstanding() > 0 && since(begun) < grace) {
      collect(kWaitWithPeers);
      add(peers_.poll(queue_));
      commit_and_show(false);
    }
    report.abandoned = !drain();
    const double left = std::max(0.0, grace - since(begun));
    peers_.end(std::chrono::milliseconds(static_cast<std::int64_t>(left * 1000)) + std::chrono::seconds(5),
               [this](const std::vector<ResultRow>& rows) { add(rows); });
    commit_and_show(true);
    report.lost = peers_.any_lost();
    report.standing = tally_.standing();
    return report;
  }

  /// Ends what is under way; false where something does not end.
  bool drain() {
    if (pool_.outstanding() == 0) {
      return true;
    }
    pool_.cancel();
    const Clock::time_point begun = Clock::now();
    while (pool_.outstanding() > 0 && since(begun) < kCancelSeconds) {
      collect(kWaitWithPeers);
    }
    if (pool_.outstanding() == 0) {
      return true;
    }
    pool_.abandon();
    return false;
  }

  /// After an error: what is finished is written as far as that is possible, and the others are sent home.
  void rescue() noexcept {
    try {
      pool_.cancel();
      results_->commit();
    } catch (...) {  // the first error is the one to tell
    }
    dismiss_others(*options_);
  }

  const Plan* plan_;
  const Work* work_;
  ResultsWriter* results_;
  RunnerOptions* options_;
  Tally tally_;
  bool cut_short_;
  UnitQueue queue_;
  LocalPool pool_;
  Peers peers_;
  double most_seconds_;
  std::optional<std::uint64_t> affinity_;
  Clock::time_point committed_ = Clock::now();
  double commit_every_ = kLeastCommitSeconds;
  Clock::time_point shown_{};
};

bool is_input_key(const std::string& key) {
  const std::string base = key.substr(0, key.find(':'));
  return base == "trace" || base == "workload";
}

/// Each once, in the order in which they come.
class InputList {
 public:
  void add(InputFile input) {
    if (seen_.emplace(input.path, input.hash).second) {
      list_.push_back(std::move(input));
    }
  }
  [[nodiscard]] std::vector<InputFile> take() {
    return std::move(list_);
  }

 private:
  std::vector<InputFile> list_;
  std::set<std::pair<std::string, std::string>> seen_;
};

/// Machines and hints: of the definition, not of its runs, as which runs there are may depend on what is in them.
void add_other_files(const Definition& definition, InputList& inputs) {
  const auto add = [&](const std::string& key, const ParameterValue& value) {
    for (const std::string& path : is_input_key(key) ? std::vector<std::string>{} : paths_in(key, value)) {
      if (std::optional<std::string> hash = file_hash(path)) {
        inputs.add({written_path(definition, path), std::move(*hash)});
      }
    }
  };
  for (const auto& [key, setting] : definition.base.all()) {
    add(key, setting.value);
  }
  for (const Factor& factor : definition.factors) {
    for (const Axis& axis : factor.axes) {
      for (const ParameterValue& value : axis.values) {
        add(axis.key, value);
      }
    }
  }
}

/// One run for each combination of values of the axes that say what is read.
std::vector<std::uint64_t> runs_by_input(const Plan& plan) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < plan.keys().size(); ++i) {
    if (is_input_key(plan.keys()[i])) {
      axes.push_back(i);
    }
  }
  if (axes.empty()) {
    return plan.runs() > 0 ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{};
  }
  std::set<std::vector<std::string>> seen;
  std::vector<std::uint64_t> runs;
  for (std::uint64_t run = 0; run < plan.runs(); ++run) {
    const std::vector<ParameterValue> values = plan.values(run);
    std::vector<std::string> key;
    for (const std::size_t axis : axes) {
      key.push_back(to_text(values[axis]));
    }
    if (seen.insert(std::move(key)).second) {
      runs.push_back(run);
    }
  }
  return runs;
}

}  // namespace

std::vector<InputFile> sweep_inputs(const Plan& plan, const Work& work) {
  InputList inputs;
  add_other_files(plan.definition(), inputs);
  if (!work.input_hash) {
    return inputs.take();
  }
  bool any = false;
  std::optional<Error> first;
  for (const std::uint64_t run : runs_by_input(plan)) {
    try {
      // Nothing else: whatever else is wrong with the run does not hide its input.
      experiment::Settings asked;
      const experiment::Settings whole = plan.settings(run);
      for (const auto& [key, setting] : whole.all()) {
        if (is_input_key(key)) {
          asked.set(key, setting.value, setting.where);
        }
      }
      const experiment::Settings complete = experiment::complete(asked);
      const std::string& workload = complete.text("workload");
      inputs.add({workload.empty() ? written_path(plan.definition(), complete.text("trace")) : workload,
                  work.input_hash(complete)});
      any = true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) {
        throw;
      }
      if (!first) {
        first = error;
      }
    }
  }
  if (!any && first) {
    throw Error(*first);
  }
  return inputs.take();
}

SweepReport run_sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options) {
  const SelectOptions select{options.shard, options.shards, plan.definition().most_runs, options.most_now};
  Sweep sweep(plan, work, results, options, select_units(plan.units(), results.finished(options.retry_errors), select));
  return sweep.run();
}

SweepReport run_sweep(const Plan& plan, experiment::Evaluator& evaluator, ResultsWriter& results,
                      RunnerOptions& options) {
  return run_sweep(plan, work_of(evaluator), results, options);
}

}  // namespace rayreplay::sweep
