// Timed models: warps are formed while the machine runs. timing.hpp has the rules.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "sim/machine/fluid.hpp"
#include "sim/machine/forming_warps.hpp"
#include "sim/machine/job_maker.hpp"
#include "sim/machine/path_weigher.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::FormedWarp;
using scheduler::kNoSegment;

class Simulation {
 public:
  Simulation(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model, const Machine& machine,
             std::uint32_t resident_warps, const Costs& costs, simt::Policy policy, const scheduler::Charges& charges,
             const Extra& extra, const TimingOptions& options)
      : context_(&context),
        warp_size_(context.order.warp_size),
        rates_(machine, charges, extra),
        sms_(machine.sms - charges.withheld_sms),
        fluid_(sms_, resident_warps, rates_),
        maker_(context.launch, context.segments, machine, costs),
        weigher_(context.launch, context.trace.shaders, context.segments, context.order.warp_size,
                 replay_options(costs, policy)),
        costs_(&costs),
        warps_(context.order, context.segments, model.exchanges(context), sms_, resident_warps),
        touched_of_(warps_.exchanges()),
        deadlines_(warps_.exchanges()),
        launch_room_(sms_),
        options_(&options) {
    if (costs.paths != nullptr) {
      path_weigher_.emplace(context.launch, context.trace.shaders, context.segments, warp_size_, policy, *costs.paths);
    }
    run_.schedule.warp_size = warp_size_;
    run_.schedule.spread = true;
    run_.schedule.unit_sm = {scheduler::kAnySm};
    run_.schedule.unit_begin = {0, 1};
  }

  TimedRun run(const Machine& machine) {
    report_start(options_->progress, "running warps", context_->segments.size());
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
      launch_room_.set(sm, 0);
    }
    for (std::uint32_t exchange = 0; exchange < warps_.exchanges(); ++exchange) {
      touch(exchange);
    }
    settle();
    for (;;) {
      const double next = std::min(fluid_.next_end(), deadlines_.least());
      if (next == Fluid::kNever) {
        break;
      }
      now_ = std::max(now_, next);
      if (fluid_.next_end() <= now_) {
        end_warps();
      }
      while (deadlines_.least() <= now_) {
        ask_at_deadline(static_cast<std::uint32_t>(deadlines_.first()));
      }
      settle();
    }
    return finish(machine);
  }

 private:
  static simt::SegmentReplayOptions replay_options(const Costs& costs, simt::Policy policy) {
    simt::SegmentReplayOptions options;
    options.policy = policy;
    options.weights = job_weights(costs);
    return options;
  }

  void touch(std::uint32_t exchange) {
    if (touched_of_[exchange] == 0) {
      touched_of_[exchange] = 1;
      touched_.push_back(exchange);
    }
  }

  /// Updates after a change of an exchange or of its SMs' slots.
  void refresh(std::uint32_t exchange) {
    deadlines_.set(exchange, warps_.deadline(exchange));
    if (!warps_.single()) {
      launch_room_.set(exchange, warps_.admits(exchange) ? fluid_.running(exchange) : Fluid::kNever);
    }
  }

  void end_warps() {
    ended_.clear();
    fluid_.end_next(ended_);
    std::sort(ended_.begin(), ended_.end(),
              [](const Fluid::Ended& a, const Fluid::Ended& b) { return a.sm != b.sm ? a.sm < b.sm : a.job < b.job; });
    std::uint64_t lanes = 0;
    for (const Fluid::Ended& ended : ended_) {
      const std::uint32_t exchange = warps_.exchange_of(ended.sm);
      touch(exchange);
      if (options_->placement) {
        run_.timing.placement.end[ended.job] = now_;
      }
      lanes += warps_.ended(number_of_[ended.job], exchange, now_);
    }
    report(lanes);
    for (const std::uint32_t exchange : in_order()) {
      warps_.ask(exchange, now_);
      refresh(exchange);
    }
  }

  /// Touched exchanges, ascending.
  const std::vector<std::uint32_t>& in_order() {
    std::sort(touched_.begin(), touched_.end());
    return touched_;
  }

  void ask_at_deadline(std::uint32_t exchange) {
    touch(exchange);
    warps_.ask_at_deadline(exchange, now_);
    refresh(exchange);
  }

  /// Starts ready warps, and asks starved exchanges until nothing changes at this time.
  void settle() {
    for (;;) {
      fill();
      if (!warps_.launch_left() && !told_of_end_) {
        told_of_end_ = true;
        for (std::uint32_t exchange = 0; exchange < warps_.exchanges(); ++exchange) {
          touch(exchange);
        }
      }
      bool fed = false;
      const std::vector<std::uint32_t> asked = in_order();
      for (const std::uint32_t exchange : asked) {
        touched_of_[exchange] = 0;
      }
      touched_.clear();
      for (const std::uint32_t exchange : asked) {
        if (warps_.is_starved(exchange, warps_.launch_left())) {
          warps_.feed(exchange, now_);
          refresh(exchange);
          touch(exchange);
          fed = true;
        }
      }
      if (!fed) {
        return;
      }
    }
  }

  void fill() {
    for (const std::uint32_t exchange : in_order()) {
      while (!warps_.ready(exchange).empty()) {
        const std::uint32_t sm = warps_.single() ? fluid_.emptiest() : exchange;
        if (sm == kNoSm || !fluid_.has_room(sm)) {
          break;
        }
        start(warps_.start_ready(exchange), sm, true);
      }
      refresh(exchange);
    }
    while (warps_.launch_left()) {
      std::uint32_t sm = kNoSm;
      if (warps_.single()) {
        sm = warps_.admits(0) ? fluid_.emptiest() : kNoSm;
      } else if (launch_room_.least() < Fluid::kNever) {
        sm = static_cast<std::uint32_t>(launch_room_.first());
      }
      if (sm == kNoSm) {
        return;
      }
      start(warps_.start_launched(warps_.exchange_of(sm)), sm, false);
      refresh(warps_.exchange_of(sm));
    }
  }

  /// A warp that has started.
  void start(std::uint32_t number, std::uint32_t sm, bool formed) {
    const auto warp = static_cast<std::uint32_t>(run_.schedule.moved.size());
    const FormedWarp lanes_of = warps_.lanes_of(number);
    const auto lanes = std::span(lanes_of.segment_at).first(warp_size_);
    number_of_.push_back(number);
    run_.schedule.segment_at.insert(run_.schedule.segment_at.end(), lanes.begin(), lanes.end());
    run_.schedule.moved.push_back(lanes_of.moved);
    auto weights = weigher_.weigh(lanes);
    if (path_weigher_) {
      add_paths(*costs_->paths, costs_->calls, path_weigher_->weigh(lanes), weights[kIssueWeight],
                weights[kLatencyWeight]);
    }
    const auto threads = static_cast<std::uint32_t>(warp_size_ - std::count(lanes.begin(), lanes.end(), kNoSegment));
    const Job job = rates_.charged(maker_.make(lanes, weights), static_cast<std::uint32_t>(weights[kHitWeight]),
                                   threads, lanes_of.moved, formed, true);
    run_.timing.traffic_bytes += job.bytes;
    const std::uint32_t slot = fluid_.start(sm, warp, job, now_);
    if (options_->placement) {
      Placement& placement = run_.timing.placement;
      placement.sm.push_back(rates_.charges.withheld_sms + sm);
      placement.slot.push_back(slot);
      placement.start.push_back(now_);
      placement.end.push_back(now_);
      run_.moved_lanes.push_back(lanes_of.moved_lanes);
    }
  }

  void report(std::uint64_t lanes) {
    report_advance(options_->progress, lanes);
  }

  TimedRun finish(const Machine& machine) {
    if (warps_.left() != 0) {
      throw Error(
          ErrorKind::Internal,
          {"an exchange of the scheduler model lost threads", "run_timed",
           fmt::format("{} of {} segments did not run", warps_.left(), context_->segments.size()), "all ran", ""});
    }
    run_.schedule.round_begin = {0, run_.schedule.moved.size()};
    Timing timing = fluid_.finish();
    timing.traffic_bytes = run_.timing.traffic_bytes;
    timing.placement = std::move(run_.timing.placement);
    complete(timing, machine, rates_.charges);
    run_.timing = std::move(timing);
    report_finish(options_->progress);
    return std::move(run_);
  }

  const scheduler::PlanContext* context_;
  std::uint32_t warp_size_;
  Rates rates_;
  std::uint32_t sms_;
  Fluid fluid_;
  JobMaker maker_;
  simt::WarpWeigher weigher_;
  const Costs* costs_;
  std::optional<PathWeigher> path_weigher_;  ///< if some calls have costs by path
  FormingWarps warps_;
  std::vector<std::uint8_t> touched_of_;  ///< by exchange: 1 if it is in `touched_`
  LeastTree deadlines_;                   ///< by exchange
  LeastTree launch_room_;  ///< number of jobs of each SM that admits a launched warp; unused with a single exchange
  const TimingOptions* options_;
  bool told_of_end_ = false;  ///< exchanges were checked since the last launched warp started
  std::vector<std::uint32_t> touched_;
  std::vector<Fluid::Ended> ended_;
  std::vector<std::uint32_t> number_of_;  ///< by warp in order of start: that of FormingWarps
  TimedRun run_;
  double now_ = 0;
};

}  // namespace

TimedRun run_timed(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model,
                   const Machine& machine, std::uint32_t resident_warps, const Costs& costs, simt::Policy policy,
                   const scheduler::Charges& charges, const Extra& extra, const TimingOptions& options) {
  return Simulation(context, model, machine, resident_warps, costs, policy, charges, extra, options).run(machine);
}

}  // namespace rayreplay::machine
