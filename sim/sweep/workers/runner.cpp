#include "sim/sweep/workers/runner.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "sim/sweep/workers/selection.hpp"
#include "sim/sweep/workers/tally.hpp"

namespace rayreplay::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWait{100};
constexpr std::chrono::milliseconds kWaitOfLeader{2};  // other ranks wait for its answers (mpi_session.hpp)
constexpr std::chrono::milliseconds kShow{100};
constexpr std::chrono::milliseconds kTellLeader{250};
/// A fast disk gets commits more often than every kCommitSeconds: commits take at most a fiftieth of the time.
constexpr double kCommitShare = 50;
constexpr double kMinCommitSeconds = 0.02;
/// Grace after a cancel: evaluation polls the flag several times a second.
constexpr double kCancelSeconds = 3;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// Ranks that do not work send nothing.
void require_same_inputs(const Team& team, const std::vector<RankResult>& ranks) {
  const Texts& expected = ranks[0].texts;  // path, hash, path, hash …
  for (const auto& [name, found] : ranks) {
    for (std::size_t i = 0; !found.empty() && i < expected.size(); i += 2) {
      std::size_t same = 0;
      while (same < found.size() && found[same] != expected[i]) {
        same += 2;
      }
      if (same >= found.size()) {
        throw_on(team, ErrorKind::Input,
                 {"an input cannot be read there", name, expected[i], "the file that rank 0 reads",
                  "put the file where all machines find it under this name"});
      }
      if (found[same + 1] != expected[i + 1]) {
        throw_on(team, ErrorKind::Input,
                 {"an input has other content there: " + expected[i], name, found[same + 1],
                  expected[i + 1] + " as on rank 0", "copy the file again to that machine"});
      }
    }
  }
}

/// One sweep in progress. After an exception only its destructor may be called.
class Sweep {
 public:
  Sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options, Selection selection)
      : plan_(&plan),
        work_(&work),
        results_(&results),
        options_(&options),
        team_(options.team),
        leads_(team_ != nullptr && team_->rank() == 0),
        wanted_(wanted(selection)),
        tally_(selection.total, selection.finished, wanted_, plan.definition().objective),
        cut_short_(selection.finished + wanted_ < selection.total),
        source_(std::move(selection.tasks), team_),
        pool_(plan, work, pool_options(options)),
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

  /// The first units are already under evaluation. No row is taken before all ranks have confirmed unchanged inputs.
  void look_at_inputs() {
    const std::vector<RankResult> ranks = in_step(team_, [this] {
      std::future<std::vector<InputFile>> looking =
          std::async(std::launch::async, [this] { return sweep_inputs(*plan_, *work_); });
      while (leads_ && looking.wait_for(kWaitOfLeader) != std::future_status::ready) {
        team_->fetch_add(Counter::NextPiece, 0);
      }
      Texts texts;
      for (const InputFile& input : looking.get()) {
        results_->check_input(input);
        texts.insert(texts.end(), {input.path, input.hash});
      }
      return texts;
    });
    if (team_ != nullptr) {
      require_same_inputs(*team_, ranks);
    }
  }

  /// Rank 0 keeps answering until all rows are there.
  [[nodiscard]] bool finished() const {
    return source_.over() && pool_.outstanding() == 0 && (!leads_ || tally_.added() >= wanted_);
  }

  [[nodiscard]] std::optional<SweepEnd> stop_reason() const {
    if (stopped_by_others_ || (options_->stop_requested && options_->stop_requested())) {
      return SweepEnd::Stopped;
    }
    if (most_seconds_ > 0 && tally_.seconds() >= most_seconds_) {
      return SweepEnd::TimeOver;
    }
    return std::nullopt;
  }

  void step() {
    feed_pool();
    collect(leads_ ? kWaitOfLeader : kWait);
    commit_and_show(false);
  }

  /// A rank takes another piece only when it has room, so no rank hoards work that others could begin.
  void feed_pool() {
    while (pool_.outstanding() < pool_.capacity() && (source_.at_hand() || pool_.outstanding() < pool_.workers())) {
      std::optional<Task> task = source_.next();
      if (!task) {
        break;
      }
      pool_.submit(std::move(*task));
    }
  }

  void collect(std::chrono::milliseconds wait) {
    while (std::optional<TaskResult> result = pool_.take(wait)) {
      if (result->error) {
        std::rethrow_exception(result->error);
      }
      results_->add(result->rows);
      tally_.add(result->rows);
      rows_to_tell_ += result->rows.size();
      failed_to_tell_ += static_cast<std::uint64_t>(
          std::ranges::count_if(result->rows, [](const ResultRow& row) { return row.outcome.failure.has_value(); }));
      wait = std::chrono::milliseconds(0);
    }
  }

  void commit_and_show(bool now) {
    if (now || since(committed_) >= commit_every_) {
      const Clock::time_point begun = Clock::now();
      results_->commit();
      committed_ = Clock::now();
      commit_every_ = std::clamp(kCommitShare * since(begun), kMinCommitSeconds, kCommitSeconds);
    }
    if (team_ != nullptr && (now || leads_ || Clock::now() - told_ >= kTellLeader)) {
      ask_team();
      told_ = Clock::now();
    }
    if (options_->show && (now || Clock::now() - shown_ >= kShow)) {
      options_->show(tally_.standing());
      shown_ = Clock::now();
    }
  }

  /// Exchanges progress with the other ranks, and learns of a stop.
  void ask_team() {
    const auto add = [this](Counter counter, std::uint64_t& more) {
      const auto mine = static_cast<std::int64_t>(std::exchange(more, 0));
      return mine != 0 || leads_ ? static_cast<std::uint64_t>(team_->fetch_add(counter, mine) + mine) : 0;
    };
    const std::uint64_t failed = add(Counter::RowsFailed, failed_to_tell_);
    const std::uint64_t done = add(Counter::RowsDone, rows_to_tell_);
    if (leads_) {
      tally_.set_counts(done, failed);
    }
    const std::int64_t next = team_->fetch_add(Counter::NextPiece, 0);
    stopped_by_others_ = next >= kStop;
    failed_elsewhere_ = next >= kFail;
  }

  SweepReport leave() {
    SweepReport report;
    const std::optional<SweepEnd> stopped = finished() ? std::nullopt : stop_reason();
    report.end = stopped ? *stopped : cut_short_ ? SweepEnd::CountReached : SweepEnd::Finished;
    const double grace = stopped && !failed_elsewhere_ ? options_->grace_seconds : 0;
    pool_.stop();
    // Commits finished rows before it waits: the next signal may kill the process.
    collect(std::chrono::milliseconds(0));
    commit_and_show(true);
    if (team_ != nullptr && stopped == SweepEnd::Stopped && !stopped_by_others_) {
      team_->fetch_add(Counter::NextPiece, kStop);
    }
    const Clock::time_point begun = Clock::now();
    while (pool_.outstanding() > 0 && since(begun) < grace) {
      collect(kWaitOfLeader);
      commit_and_show(false);
    }
    report.abandoned = !drain();
    commit_and_show(true);
    report.standing = tally_.standing();
    return report;
  }

  /// Cancels running evaluations; false if one does not end in time.
  bool drain() {
    if (pool_.outstanding() == 0) {
      return true;
    }
    pool_.cancel();
    const Clock::time_point begun = Clock::now();
    while (pool_.outstanding() > 0 && since(begun) < kCancelSeconds) {
      collect(kWaitOfLeader);
    }
    if (pool_.outstanding() == 0) {
      return true;
    }
    pool_.abandon();
    return false;
  }

  /// After an error: writes finished rows as far as possible, and ends the other ranks.
  void rescue() noexcept {
    try {
      if (team_ != nullptr) {
        team_->fetch_add(Counter::NextPiece, kFail);
      }
      pool_.cancel();
      results_->commit();
    } catch (...) {  // only the first error is reported
    }
  }

  const Plan* plan_;
  const Work* work_;
  ResultsWriter* results_;
  RunnerOptions* options_;
  Team* team_;
  bool leads_;
  std::uint64_t wanted_;
  Tally tally_;
  bool cut_short_;
  TaskSource source_;
  LocalPool pool_;
  double most_seconds_;
  std::uint64_t rows_to_tell_ = 0, failed_to_tell_ = 0;
  bool stopped_by_others_ = false, failed_elsewhere_ = false;
  Clock::time_point committed_ = Clock::now(), told_{};
  double commit_every_ = kMinCommitSeconds;
  Clock::time_point shown_{};
};

}  // namespace

std::vector<bool> agree_on_sweep(Team& team, const Plan& plan, const std::function<std::vector<bool>()>& finished) {
  const std::vector<RankResult> ranks = in_step(&team, [&] {
    std::string bits;
    for (const bool one : team.rank() == 0 ? finished() : std::vector<bool>{}) {
      bits += one ? '1' : '0';
    }
    return Texts{RAYREPLAY_VERSION, fmt::format("{} ({} runs)", definition_hash(plan.definition()), plan.runs()), bits};
  });
  const Texts& expected = ranks[0].texts;
  for (const auto& [name, found] : ranks) {
    if (found[0] != expected[0]) {
      throw_on(team, ErrorKind::Usage,
               {"the version of rayreplay differs", name, found[0], expected[0] + " as on rank 0",
                "run the same rayreplay on all machines"});
    }
    if (found[1] != expected[1]) {
      throw_on(team, ErrorKind::Usage,
               {"the sweep differs", name, found[1], expected[1] + " as on rank 0",
                "give all machines the same sweep file"});
    }
  }
  std::vector<bool> result;
  for (const char bit : expected[2]) {
    result.push_back(bit == '1');
  }
  return result;
}

void attend_sweep(Team& team) {
  require_same_inputs(team, in_step(&team, [] { return Texts{}; }));
}

SweepReport run_sweep(const Plan& plan, const Work& work, ResultsWriter& results, RunnerOptions& options) {
  const SelectOptions select{options.shard, options.shards, plan.definition().most_runs, options.most_now};
  const std::vector<bool> finished = options.finished ? *options.finished : results.finished(options.retry_errors);
  Sweep sweep(plan, work, results, options, select_units(plan.units(), finished, select));
  return sweep.run();
}

SweepReport run_sweep(const Plan& plan, experiment::Evaluator& evaluator, ResultsWriter& results,
                      RunnerOptions& options) {
  return run_sweep(plan, work_of(evaluator), results, options);
}

}  // namespace rayreplay::sweep
