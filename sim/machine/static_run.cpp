// Static schedules: places units and rounds on SMs. timing.hpp has the rules.
#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "sim/machine/fluid.hpp"
#include "sim/machine/schedule_round.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::kAnySm;
using scheduler::SegmentSchedule;

using LowestFirst = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

struct Unit : ScheduleRound {
  std::uint32_t sm = kNoSm;  ///< of the unit; kNoSm: not chosen yet, or each warp has its own
};

class StaticRun {
 public:
  StaticRun(const SegmentSchedule& schedule, const Workload& workload, const Machine& machine,
            std::uint32_t resident_warps, const scheduler::Charges& charges, const Extra& extra,
            const TimingOptions& options)
      : schedule_(&schedule),
        workload_(&workload),
        rates_(machine, charges, extra),
        shading_sms_(machine.sms - charges.withheld_sms),
        fluid_(shading_sms_, resident_warps, rates_),
        options_(&options),
        units_(schedule.units()),
        waiting_(shading_sms_) {
    if (options.placement) {
      placement_.sm.resize(schedule.warps());
      placement_.slot.resize(schedule.warps());
      placement_.start.resize(schedule.warps());
      placement_.end.resize(schedule.warps());
    }
    unit_of_warp_.resize(schedule.warps());
  }

  Timing run() {
    report_start(options_->progress, "running warps", schedule_->warps());
    bind_fixed_units();
    std::vector<Fluid::Ended> ended;
    fill();
    while (fluid_.running() > 0) {
      now_ = fluid_.next_end();
      ended.clear();
      fluid_.end_next(ended);
      for (const Fluid::Ended& job : ended) {
        end(job);
      }
      fill();
      report(ended.size());
    }
    Timing timing = fluid_.finish();
    timing.traffic_bytes = traffic_;
    timing.placement = std::move(placement_);
    report_finish(options_->progress);
    return timing;
  }

 private:
  static constexpr std::uint64_t kReportEvery = 1 << 16;

  void report(std::uint64_t jobs) {
    unreported_ += jobs;
    if (options_->progress != nullptr && (unreported_ >= kReportEvery || fluid_.running() == 0)) {
      options_->progress->advance(unreported_);
      unreported_ = 0;
    }
  }

  bool enter_round(std::uint32_t number, std::uint64_t round) {
    return units_[number].enter(*schedule_, number, round);
  }

  void bind_fixed_units() {
    for (std::uint32_t number = 0; number < units_.size(); ++number) {
      if (schedule_->unit_sm[number] != kAnySm && enter_round(number, schedule_->unit_begin[number])) {
        const std::uint32_t sm = schedule_->unit_sm[number] % shading_sms_;
        units_[number].sm = sm;
        waiting_[sm].push(number);
        touched_.push_back(sm);
      }
    }
  }

  /// The lowest unit that may start a warp on any SM.
  bool next_anywhere(std::uint32_t& number) {
    while (next_unit_ < units_.size() &&
           (schedule_->unit_sm[next_unit_] != kAnySm || !enter_round(next_unit_, schedule_->unit_begin[next_unit_]))) {
      ++next_unit_;
    }
    if (!ready_.empty() && ready_.top() < next_unit_) {
      number = ready_.top();
      return true;
    }
    if (next_unit_ == units_.size()) {
      return false;
    }
    number = next_unit_;
    if (schedule_->spread) {
      ready_.push(number);
      ++next_unit_;
    }
    return true;
  }

  void fill() {
    for (const std::uint32_t sm : touched_) {
      fill_own(sm);
    }
    touched_.clear();
    std::uint32_t number = 0;
    for (std::uint32_t sm = fluid_.emptiest(); sm != kNoSm && next_anywhere(number); sm = fluid_.emptiest()) {
      if (schedule_->spread) {
        start(number, sm);
        if (units_[number].is_out(*schedule_)) {
          ready_.pop();
        }
      } else {
        ++next_unit_;
        units_[number].sm = sm;
        waiting_[sm].push(number);
        // Only its own warps can be waiting, because it had room.
        fill_own(sm);
      }
    }
  }

  /// Warps of units that are bound to the SM come first, lowest unit first.
  void fill_own(std::uint32_t sm) {
    LowestFirst& waiting = waiting_[sm];
    while (!waiting.empty() && fluid_.has_room(sm)) {
      const std::uint32_t number = waiting.top();
      start(number, sm);
      if (units_[number].is_out(*schedule_)) {
        waiting.pop();
      }
    }
  }

  void start(std::uint32_t number, std::uint32_t sm) {
    Unit& unit = units_[number];
    const auto warp = static_cast<std::uint32_t>(unit.next_warp++);
    unit_of_warp_[warp] = number;
    const std::uint64_t first_round = schedule_->unit_begin[number];
    const bool formed = unit.round > first_round;
    const bool exchanged = schedule_->round_begin[first_round + 1] - schedule_->round_begin[first_round] > 1;
    const Job job = rates_.charged(workload_->jobs[warp], workload_->hits[warp], workload_->lanes[warp],
                                   schedule_->moved[warp], formed, exchanged);
    traffic_ += job.bytes;
    const std::uint32_t slot = fluid_.start(sm, warp, job, now_);
    if (options_->placement) {
      placement_.sm[warp] = rates_.charges.withheld_sms + sm;
      placement_.slot[warp] = slot;
      placement_.start[warp] = now_;
    }
  }

  void end(const Fluid::Ended& job) {
    if (options_->placement) {
      placement_.end[job.job] = now_;
    }
    touched_.push_back(job.sm);
    const std::uint32_t number = unit_of_warp_[job.job];
    Unit& unit = units_[number];
    if (--unit.unfinished > 0 || !enter_round(number, unit.round + 1)) {
      return;
    }
    if (unit.sm == kNoSm) {
      ready_.push(number);
    } else {
      waiting_[unit.sm].push(number);
      touched_.push_back(unit.sm);
    }
  }

  const SegmentSchedule* schedule_;
  const Workload* workload_;
  Rates rates_;
  std::uint32_t shading_sms_;
  Fluid fluid_;
  const TimingOptions* options_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_warp_;
  std::vector<LowestFirst> waiting_;    ///< by SM: units bound to it that have warps to start
  std::vector<std::uint32_t> touched_;  ///< SMs whose own units may start warps
  LowestFirst ready_;                   ///< spread units with warps to start
  std::uint32_t next_unit_ = 0;         ///< the first unit that has not started
  Placement placement_;
  double now_ = 0;
  double traffic_ = 0;
  std::uint64_t unreported_ = 0;
};

}  // namespace

Timing time_schedule(const SegmentSchedule& schedule, const Workload& workload, const Machine& machine,
                     std::uint32_t resident_warps, const scheduler::Charges& charges, const Extra& extra,
                     const TimingOptions& options) {
  if (workload.jobs.size() != schedule.warps() || workload.hits.size() != schedule.warps() ||
      workload.lanes.size() != schedule.warps()) {
    throw Error(ErrorKind::Internal,
                {"the workload is not the schedule's", "time_schedule", fmt::format("{} jobs", workload.jobs.size()),
                 fmt::format("{} warps", schedule.warps()), ""});
  }
  Timing timing = StaticRun(schedule, workload, machine, resident_warps, charges, extra, options).run();
  complete(timing, machine, charges);
  return timing;
}

}  // namespace rayreplay::machine
