// Timed models: warps are formed while the machine runs. timing.hpp has the rules.
#include <algorithm>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "sim/machine/fluid.hpp"
#include "sim/machine/job_maker.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::Exchange;
using scheduler::FormedWarp;
using scheduler::kNoSegment;

[[noreturn]] void broken(std::string what, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"an exchange of the scheduler model " + std::move(what), "run_timed",
                                    std::move(found), std::move(expected), ""});
}

/// A segment's state, and whether its thread has another.
enum SegmentState : std::uint8_t { kLast = 1, kWaiting = 2 };

class Simulation {
 public:
  Simulation(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model, const Machine& machine,
             std::uint32_t resident_warps, const Costs& costs, simt::Policy policy, const scheduler::Charges& charges,
             const Extra& extra, const TimingOptions& options)
      : context_(&context),
        warp_size_(context.order.warp_size),
        resident_(std::max(resident_warps, 1U)),
        rates_(machine, charges, extra),
        sms_(machine.sms - charges.withheld_sms),
        fluid_(sms_, resident_warps, rates_),
        maker_(context.launch, context.segments, machine, costs),
        weigher_(context.launch, context.trace.shaders, context.segments, context.order.warp_size,
                 replay_options(costs, policy)),
        exchanges_(model.exchanges(context)),
        waits_(exchanges_.size()),
        deadlines_(exchanges_.size()),
        launch_room_(sms_),
        options_(&options) {
    if (exchanges_.size() != 1 && exchanges_.size() != sms_) {
      broken("is too many or too few", fmt::format("{} exchanges", exchanges_.size()),
             fmt::format("1 or {}, the number of shading SMs", sms_));
    }
    number_launch_warps();
    state_.resize(context.segments.size());
    std::fill(state_.begin(), state_.end(), std::uint8_t{0});
    for (std::size_t thread = 0; thread + 1 < context.segments.first.size(); ++thread) {
      if (context.segments.first[thread] < context.segments.first[thread + 1]) {
        state_[context.segments.first[thread + 1] - 1] = kLast;
      }
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
    for (std::uint32_t exchange = 0; exchange < exchanges_.size(); ++exchange) {
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
  /// State of one exchange.
  struct Wait {
    std::deque<FormedWarp> ready;  ///< released, without a slot yet
    std::uint64_t coming = 0;      ///< lanes that run or are ready: their threads will arrive
    std::uint64_t running = 0;     ///< warps
    bool touched = false;
  };

  static simt::SegmentReplayOptions replay_options(const Costs& costs, simt::Policy policy) {
    simt::SegmentReplayOptions options;
    options.policy = policy;
    options.weights = job_weights(costs);
    return options;
  }

  void number_launch_warps() {
    launch_warps_.resize(context_->order.warps());
    for (std::uint32_t warp = 0; warp < launch_warps_.size(); ++warp) {
      launch_warps_[context_->order.start_rank[warp]] = warp;
    }
    skip_empty_launch_warps();
  }

  void skip_empty_launch_warps() {
    while (next_launch_ < launch_warps_.size() && !launch_warp(launch_warps_[next_launch_])) {
      ++next_launch_;
    }
  }

  /// Puts the warp's first segments into `formed_`; false if it has none.
  bool launch_warp(std::uint32_t warp) {
    bool any = false;
    formed_.segment_at.fill(kNoSegment);
    formed_.moved = 0;
    formed_.moved_lanes = 0;
    for (std::uint32_t lane = 0; lane < warp_size_; ++lane) {
      const std::uint32_t thread = context_->order.thread_at[std::size_t{warp} * warp_size_ + lane];
      if (thread != scheduler::kNoThread &&
          context_->segments.first[thread] < context_->segments.first[std::size_t{thread} + 1]) {
        formed_.segment_at[lane] = context_->segments.first[thread];
        any = true;
      }
    }
    return any;
  }

  [[nodiscard]] bool launch_left() const {
    return next_launch_ < launch_warps_.size();
  }
  [[nodiscard]] bool single() const {
    return exchanges_.size() == 1;
  }
  [[nodiscard]] std::uint32_t exchange_of(std::uint32_t sm) const {
    return single() ? 0 : sm;
  }
  /// True if a launched warp may take a slot of the exchange's SMs.
  [[nodiscard]] bool admits(std::uint32_t exchange) const {
    const Wait& wait = waits_[exchange];
    const std::uint64_t held = (exchanges_[exchange]->waiting() + warp_size_ - 1) / warp_size_;
    return wait.running + wait.ready.size() + held < std::uint64_t{resident_} * (single() ? sms_ : 1);
  }

  void touch(std::uint32_t exchange) {
    if (!waits_[exchange].touched) {
      waits_[exchange].touched = true;
      touched_.push_back(exchange);
    }
  }

  /// Updates after a change of an exchange or of its SMs' slots.
  void refresh(std::uint32_t exchange) {
    deadlines_.set(exchange,
                   exchanges_[exchange]->waiting() > 0 ? exchanges_[exchange]->deadline_cycles() : Fluid::kNever);
    if (!single()) {
      launch_room_.set(exchange, admits(exchange) ? fluid_.running(exchange) : Fluid::kNever);
    }
  }

  void end_warps() {
    ended_.clear();
    fluid_.end_next(ended_);
    std::sort(ended_.begin(), ended_.end(),
              [](const Fluid::Ended& a, const Fluid::Ended& b) { return a.sm != b.sm ? a.sm < b.sm : a.job < b.job; });
    std::uint64_t lanes = 0;
    for (const Fluid::Ended& ended : ended_) {
      const std::uint32_t exchange = exchange_of(ended.sm);
      --waits_[exchange].running;
      touch(exchange);
      if (options_->placement) {
        run_.timing.placement.end[ended.job] = now_;
      }
      for (std::uint32_t lane = 0; lane < warp_size_; ++lane) {
        const std::uint32_t segment = run_.schedule.segment_at[std::size_t{ended.job} * warp_size_ + lane];
        if (segment == kNoSegment) {
          continue;
        }
        ++lanes;
        if ((state_[segment] & kLast) == 0) {
          state_[segment + 1] |= kWaiting;
          --waits_[exchange].coming;
          exchanges_[exchange]->arrive({segment + 1, ended.job, static_cast<std::uint8_t>(lane)}, now_);
        }
      }
    }
    report(lanes);
    for (const std::uint32_t exchange : in_order()) {
      release(exchange, false);
    }
  }

  /// Touched exchanges, ascending.
  const std::vector<std::uint32_t>& in_order() {
    std::sort(touched_.begin(), touched_.end());
    return touched_;
  }

  void ask_at_deadline(std::uint32_t exchange) {
    touch(exchange);
    release(exchange, false);
    if (deadlines_.least() <= now_ && deadlines_.first() == exchange) {
      broken("asks again for a time that has passed", fmt::format("{} at {}", deadlines_.least(), now_),
             "a later time");
    }
  }

  void release(std::uint32_t exchange, bool starved) {
    Wait& wait = waits_[exchange];
    released_.clear();
    exchanges_[exchange]->release(now_, starved, released_);
    for (const FormedWarp& warp : released_) {
      std::uint32_t lanes = 0;
      for (std::uint32_t lane = 0; lane < scheduler::kMaxWarpSize; ++lane) {
        const std::uint32_t segment = warp.segment_at[lane];
        if (segment == kNoSegment) {
          continue;
        }
        if (lane >= warp_size_ || segment >= state_.size() || (state_[segment] & kWaiting) == 0) {
          broken("releases a thread that does not wait", fmt::format("segment {} in lane {}", segment, lane),
                 "segments that have arrived, once each");
        }
        state_[segment] &= static_cast<std::uint8_t>(~kWaiting);
        wait.coming += (state_[segment] & kLast) == 0 ? 1U : 0U;
        ++lanes;
      }
      if (lanes == 0) {
        broken("releases a warp without threads", "", "at least one");
      }
      wait.ready.push_back(warp);
    }
    refresh(exchange);
  }

  /// Starts ready warps, and asks starved exchanges until nothing changes at this time.
  void settle() {
    for (;;) {
      fill();
      if (!launch_left() && !told_of_end_) {
        told_of_end_ = true;
        for (std::uint32_t exchange = 0; exchange < exchanges_.size(); ++exchange) {
          touch(exchange);
        }
      }
      bool fed = false;
      const std::vector<std::uint32_t> asked = in_order();
      for (const std::uint32_t exchange : asked) {
        waits_[exchange].touched = false;
      }
      touched_.clear();
      for (const std::uint32_t exchange : asked) {
        if (is_starved(exchange)) {
          release(exchange, true);
          if (waits_[exchange].ready.empty()) {
            broken("keeps threads for ever", fmt::format("{} threads wait", exchanges_[exchange]->waiting()),
                   "a warp when nothing else can bring more threads");
          }
          touch(exchange);
          fed = true;
        }
      }
      if (!fed) {
        return;
      }
    }
  }

  /// Call after fill(): the exchange gets no more threads before it releases a warp.
  [[nodiscard]] bool is_starved(std::uint32_t exchange) const {
    const Wait& wait = waits_[exchange];
    return exchanges_[exchange]->waiting() > 0 && wait.coming == 0 && wait.ready.empty() &&
           !(launch_left() && wait.running > 0);
  }

  void fill() {
    for (const std::uint32_t exchange : in_order()) {
      Wait& wait = waits_[exchange];
      while (!wait.ready.empty()) {
        const std::uint32_t sm = single() ? fluid_.emptiest() : exchange;
        if (sm == kNoSm || !fluid_.has_room(sm)) {
          break;
        }
        formed_ = wait.ready.front();
        wait.ready.pop_front();
        start(sm, true);
      }
      refresh(exchange);
    }
    while (launch_left()) {
      std::uint32_t sm = kNoSm;
      if (single()) {
        sm = admits(0) ? fluid_.emptiest() : kNoSm;
      } else if (launch_room_.least() < Fluid::kNever) {
        sm = static_cast<std::uint32_t>(launch_room_.first());
      }
      if (sm == kNoSm) {
        return;
      }
      (void)launch_warp(launch_warps_[next_launch_]);
      for (std::uint32_t lane = 0; lane < warp_size_; ++lane) {
        const std::uint32_t segment = formed_.segment_at[lane];
        waits_[exchange_of(sm)].coming += segment != kNoSegment && (state_[segment] & kLast) == 0 ? 1U : 0U;
      }
      start(sm, false);
      ++next_launch_;
      skip_empty_launch_warps();
      refresh(exchange_of(sm));
    }
  }

  /// Starts `formed_`.
  void start(std::uint32_t sm, bool formed) {
    const auto warp = static_cast<std::uint32_t>(run_.schedule.moved.size());
    const auto lanes = std::span(formed_.segment_at).first(warp_size_);
    run_.schedule.segment_at.insert(run_.schedule.segment_at.end(), lanes.begin(), lanes.end());
    run_.schedule.moved.push_back(formed_.moved);
    const auto weights = weigher_.weigh(lanes);
    const auto threads = static_cast<std::uint32_t>(warp_size_ - std::count(lanes.begin(), lanes.end(), kNoSegment));
    const Job job = rates_.charged(maker_.make(lanes, weights), static_cast<std::uint32_t>(weights[kHitWeight]),
                                   threads, formed_.moved, formed, true);
    run_.timing.traffic_bytes += job.bytes;
    started_ += threads;
    ++waits_[exchange_of(sm)].running;
    const std::uint32_t slot = fluid_.start(sm, warp, job, now_);
    if (options_->placement) {
      Placement& placement = run_.timing.placement;
      placement.sm.push_back(rates_.charges.withheld_sms + sm);
      placement.slot.push_back(slot);
      placement.start.push_back(now_);
      placement.end.push_back(now_);
      run_.moved_lanes.push_back(formed_.moved_lanes);
    }
  }

  void report(std::uint64_t lanes) {
    report_advance(options_->progress, lanes);
  }

  TimedRun finish(const Machine& machine) {
    if (started_ != context_->segments.size()) {
      broken("lost threads", fmt::format("{} of {} segments ran", started_, context_->segments.size()), "all");
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
  std::uint32_t warp_size_, resident_;
  Rates rates_;
  std::uint32_t sms_;
  Fluid fluid_;
  JobMaker maker_;
  simt::WarpWeigher weigher_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Wait> waits_;
  LeastTree deadlines_;    ///< by exchange
  LeastTree launch_room_;  ///< number of jobs of each SM that admits a launched warp; unused with a single exchange
  const TimingOptions* options_;
  std::vector<std::uint32_t> launch_warps_;  ///< by start rank
  std::size_t next_launch_ = 0;
  bool told_of_end_ = false;           ///< exchanges were checked since the last launched warp started
  trace::Column<std::uint8_t> state_;  ///< by segment
  std::vector<std::uint32_t> touched_;
  std::vector<Fluid::Ended> ended_;
  std::vector<FormedWarp> released_;
  FormedWarp formed_{};
  TimedRun run_;
  std::uint64_t started_ = 0;
  double now_ = 0;
};

}  // namespace

TimedRun run_timed(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model,
                   const Machine& machine, std::uint32_t resident_warps, const Costs& costs, simt::Policy policy,
                   const scheduler::Charges& charges, const Extra& extra, const TimingOptions& options) {
  return Simulation(context, model, machine, resident_warps, costs, policy, charges, extra, options).run(machine);
}

}  // namespace rayreplay::machine
