#include "sim/sweep/workers/remote_worker.hpp"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{2};
constexpr std::chrono::milliseconds kSleeperPoll{50};
constexpr std::chrono::milliseconds kFlush{2000};
constexpr double kBeatSeconds = 1;
/// Before its first word rank 0 makes the plan and asks for forecasts: so many times as patient.
constexpr double kBeginning = 3;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// What goes to and comes from rank 0.
class Line {
 public:
  Line(Link& link, double silent_seconds) : link_(&link), silent_seconds_(silent_seconds) {}

  void send(const Message& message) {
    link_->send(0, encode(message));
  }
  std::optional<Message> receive() {
    if (std::optional<Envelope> envelope = link_->receive()) {
      heard_ = Clock::now();
      begun_ = true;
      return decode(envelope->bytes, fmt::format("rank {}", envelope->from));
    }
    if (since(heard_) > (begun_ ? 1 : kBeginning) * silent_seconds_) {
      link_->mark_broken();
      silent_ = true;
      throw Error(ErrorKind::Resource,
                  {"the process that gives out the work is silent", "rank 0",
                   fmt::format("nothing for {:.0f} s", since(heard_)), "", "start the same sweep again: it goes on"});
    }
    return std::nullopt;
  }
  /// Nobody is there to be told anything.
  [[nodiscard]] bool silent() const {
    return silent_;
  }
  void beat() {
    if (since(beat_) >= kBeatSeconds) {
      beat_ = Clock::now();
      send(Beat{});
    }
  }
  WorkerEnd good_bye(const Stop& stop) {
    send(Bye{});
    link_->flush(kFlush);
    if (!stop.finalize) {
      link_->mark_broken();
    }
    return {stop.finalize, false, std::nullopt};
  }

 private:
  Link* link_;
  double silent_seconds_;
  bool silent_ = false;
  bool begun_ = false;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point beat_ = Clock::now();
};

/// The processor that gives out work waits for it: reading a large trace for its hash takes a while.
std::vector<InputFile> inputs_meanwhile(const Plan& plan, const Work& work, Line& line) {
  std::future<std::vector<InputFile>> inputs = std::async(std::launch::async, [&] { return sweep_inputs(plan, work); });
  while (inputs.wait_for(kSleeperPoll) != std::future_status::ready) {
    line.beat();
  }
  return inputs.get();
}

Done done_message(const TaskResult& result) {
  Done done{result.task.id, {}};
  for (const ResultRow& row : result.rows) {
    done.rows.push_back({row.run, row.started, row.outcome});
  }
  return done;
}

void send_results(LocalPool& pool, Line& line, std::chrono::milliseconds wait) {
  while (std::optional<TaskResult> result = pool.take(wait)) {
    if (result->error) {
      std::rethrow_exception(result->error);
    }
    line.send(done_message(*result));
    wait = std::chrono::milliseconds(0);
  }
}

/// Over the line on which rank 0 was last heard: its silence counts from then.
WorkerEnd tell_trouble(Line& line, ErrorKind kind, const ErrorInfo& info) {
  line.send(Trouble{kind, info});
  for (;;) {
    while (const std::optional<Message> message = line.receive()) {
      if (const auto* stop = std::get_if<Stop>(&*message)) {
        return line.good_bye(*stop);
      }
    }
    line.beat();
    std::this_thread::sleep_for(kPoll);
  }
}

/// `error` is what ended the work: rank 0 hears it, or it is told here where there is no rank 0 any more.
WorkerEnd end_with(Line& line, Link& link, const Error& error) {
  WorkerEnd end{false, false, error};
  if (line.silent()) {
    return end;
  }
  try {
    return tell_trouble(line, error.kind(), error.info());
  } catch (const Error&) {  // the first error is the one to tell
    link.mark_broken();
    return end;
  }
}

WorkerEnd work_until_stop(const Plan& plan, LocalPool& pool, Line& line, const RunnerOptions& options) {
  bool asked = false;
  for (;;) {
    send_results(pool, line, kPoll);
    while (std::optional<Message> message = line.receive()) {
      if (auto* assign = std::get_if<Assign>(&*message)) {
        for (const std::uint64_t run : assign->runs) {
          if (run >= plan.runs()) {
            throw Error(ErrorKind::Input, {"a unit names no run of the sweep", "rank 0", std::to_string(run),
                                           fmt::format("less than {}", plan.runs()), ""});
          }
        }
        pool.submit({assign->id, assign->affinity, std::move(assign->runs)});
      } else if (const auto* stop = std::get_if<Stop>(&*message)) {
        pool.stop();
        const Clock::time_point begun = Clock::now();
        while (pool.outstanding() > 0 && since(begun) < stop->grace_seconds) {
          send_results(pool, line, kPoll);
          line.beat();
        }
        send_results(pool, line, std::chrono::milliseconds(0));
        return line.good_bye(*stop);
      }
    }
    line.beat();
    if (!asked && options.stop_requested && options.stop_requested()) {
      asked = true;
      line.send(StopWanted{});
    }
  }
}

}  // namespace

WorkerEnd run_worker(const Plan& plan, const Work& work, RunnerOptions& options) {
  Line line(*options.link, options.silent_seconds);
  PoolOptions pool_options;
  pool_options.threads = options.threads > 0 ? options.threads : usable_cores();
  pool_options.memory_bytes = options.memory_bytes;
  for (const auto& accelerator : options.accelerators) {
    pool_options.accelerators.push_back(accelerator.get());
  }
  LocalPool pool(plan, work, pool_options);
  WorkerEnd end;
  try {
    const std::vector<InputFile> inputs = inputs_meanwhile(plan, work, line);
    line.send(Hello{host_name(), RAYREPLAY_VERSION, definition_hash(plan.definition()), plan.runs(), pool.capacity(),
                    inputs});
    end = work_until_stop(plan, pool, line, options);
  } catch (const Error& error) {
    end = end_with(line, *options.link, error);
  } catch (const std::exception& error) {
    end = end_with(line, *options.link, Error(ErrorKind::Internal, {error.what(), "", "", "", ""}));
  }
  pool.cancel();
  const Clock::time_point begun = Clock::now();
  while (pool.outstanding() > 0 && since(begun) < 2) {
    static_cast<void>(pool.take(kPoll));
  }
  if (pool.outstanding() > 0) {
    pool.abandon();
    end.abandoned = true;
  }
  return end;
}

WorkerEnd sleep_until_stop(Link& link, const RunnerOptions& options) {
  Line line(link, options.silent_seconds);
  bool asked = false;
  for (;;) {
    while (const std::optional<Message> message = line.receive()) {
      if (const auto* stop = std::get_if<Stop>(&*message)) {
        return line.good_bye(*stop);
      }
    }
    if (!asked && options.stop_requested && options.stop_requested()) {
      asked = true;
      line.send(StopWanted{});
    }
    std::this_thread::sleep_for(kSleeperPoll);
  }
}

WorkerEnd report_trouble(Link& link, ErrorKind kind, const ErrorInfo& info, double silent_seconds) {
  Line line(link, silent_seconds);
  return tell_trouble(line, kind, info);
}

}  // namespace rayreplay::sweep
