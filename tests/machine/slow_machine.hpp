// The obvious twin of the time model: no heaps, no virtual clocks, no sums kept from one event to the next. At every
// event all rates are computed anew from all running jobs, and all units and SMs are searched.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/machine/timing.hpp"

namespace rayreplay::test {

struct SlowJob {
  machine::Job needs;
  double left = 0;  ///< of its solo time
  std::uint32_t sm = 0, slot = 0, number = 0;
};

/// SMs 0 … shading − 1 with the jobs that run on them.
class SlowSms {
 public:
  SlowSms(const machine::Machine& machine, std::uint32_t resident, const scheduler::Charges& charges)
      : shading_(machine.sms - charges.withheld_sms), resident_(resident) {
    const double share = machine.dram_bytes_per_second / (machine.clock_mhz * 1e6) / machine.sms;
    capacity_ = {machine.issue_per_cycle, machine.rt_steps_per_cycle,
                 charges.bytes_per_cycle > 0 ? charges.bytes_per_cycle : share};
    last_end_.assign(shading_, 0);
  }

  [[nodiscard]] std::uint32_t shading() const {
    return shading_;
  }
  [[nodiscard]] double bandwidth() const {
    return capacity_[2];
  }
  [[nodiscard]] std::uint32_t jobs_on(std::uint32_t sm) const {
    return static_cast<std::uint32_t>(
        std::count_if(running.begin(), running.end(), [&](const SlowJob& job) { return job.sm == sm; }));
  }
  [[nodiscard]] bool has_room(std::uint32_t sm) const {
    return jobs_on(sm) < resident_;
  }
  /// shading() when all are full.
  [[nodiscard]] std::uint32_t emptiest() const {
    std::uint32_t best = shading_;
    for (std::uint32_t sm = 0; sm < shading_; ++sm) {
      if (has_room(sm) && (best == shading_ || jobs_on(sm) < jobs_on(best))) {
        best = sm;
      }
    }
    return best;
  }

  std::uint32_t start(std::uint32_t sm, std::uint32_t number, machine::Job needs) {
    const double least = std::max(needs.issue / capacity_[0], needs.visits / capacity_[1]);
    if (needs.solo() < needs.issue / capacity_[0]) {
      needs.shading += needs.issue / capacity_[0] - needs.solo();
    }
    if (needs.solo() < least) {
      needs.traversal += least - needs.solo();
    }
    SlowJob job{needs, needs.solo(), sm, 0, number};
    const auto taken = [&](std::uint32_t slot) {
      return std::any_of(running.begin(), running.end(),
                         [&](const SlowJob& other) { return other.sm == sm && other.slot == slot; });
    };
    while (taken(job.slot)) {
      ++job.slot;
    }
    running.push_back(job);
    return job.slot;
  }

  [[nodiscard]] double next_end() const {
    double next = std::numeric_limits<double>::infinity();
    for (const SlowJob& job : running) {
      next = std::min(next, now + job.left / rate(job.sm).first);
    }
    return next;
  }

  /// Jobs that ended at `time`, by SM.
  std::vector<SlowJob> advance(double time) {
    const double passed = time - now;
    std::vector<double> rates(shading_);
    for (std::uint32_t sm = 0; sm < shading_; ++sm) {
      const auto [speed, limit] = rate(sm);
      const std::uint32_t jobs = jobs_on(sm);
      rates[sm] = speed;
      if (jobs == 0) {
        timing.split.idle += passed;
        continue;
      }
      busy_ += passed;
      job_cycles_ += passed * jobs;
      if (limit < 3) {
        timing.limited[limit] += passed;
      }
      for (const SlowJob& job : running) {
        if (job.sm == sm && job.needs.solo() > 0) {
          const double part = passed / jobs / job.needs.solo();
          timing.split.shading += part * job.needs.shading;
          timing.split.traversal += part * job.needs.traversal;
          timing.split.reorder += part * job.needs.reorder;
        }
      }
    }
    now = time;
    std::vector<SlowJob> ended;
    for (SlowJob& job : running) {
      job.left -= passed * rates[job.sm];
      if (job.left <= 1e-10 * job.needs.solo()) {
        ended.push_back(job);
        last_end_[job.sm] = time;
      }
    }
    std::erase_if(running, [](const SlowJob& job) { return job.left <= 1e-10 * job.needs.solo(); });
    std::stable_sort(ended.begin(), ended.end(), [](const SlowJob& a, const SlowJob& b) { return a.sm < b.sm; });
    const auto lasted = [](const SlowJob& job) { return job.needs.solo() > 0; };
    const auto first = std::find_if(ended.begin(), ended.end(), lasted);
    ambiguous = ambiguous || next_end() - now < 1e-9 * now ||
                std::any_of(first, ended.end(), [&](const SlowJob& job) { return lasted(job) && job.sm != first->sm; });
    return ended;
  }

  void finish(const machine::Machine& machine, const scheduler::Charges& charges) {
    timing.cycles = now;
    timing.milliseconds = now / (machine.clock_mhz * 1e3);
    timing.split.withheld = now * charges.withheld_sms;
    timing.tail_cycles = now - *std::min_element(last_end_.begin(), last_end_.end());
    timing.busy_share = now > 0 ? job_cycles_ / (now * shading_ * resident_) : 0;
    for (double& share : timing.limited) {
      share = busy_ > 0 ? share / busy_ : 0;
    }
  }

  std::vector<SlowJob> running;
  machine::Timing timing;
  double now = 0;
  /// Jobs on two SMs ended within rounding of one another: which was first is nobody's to say.
  bool ambiguous = false;

 private:
  /// The rate of an SM, and the resource that holds it back (3: none).
  [[nodiscard]] std::pair<double, std::size_t> rate(std::uint32_t sm) const {
    std::array<double, 3> demand{};
    for (const SlowJob& job : running) {
      if (job.sm == sm && job.needs.solo() > 0) {
        demand[0] += job.needs.issue / job.needs.solo();
        demand[1] += job.needs.visits / job.needs.solo();
        demand[2] += job.needs.bytes / job.needs.solo();
      }
    }
    std::pair<double, std::size_t> result = {1, 3};
    for (std::size_t r = 0; r < 3; ++r) {
      // But for rounding: demands of exactly the capacity hold nobody back, and of equal ones the first counts.
      if (demand[r] > capacity_[r] * (1 + 1e-11) && capacity_[r] / demand[r] < result.first * (1 - 1e-11)) {
        result = {capacity_[r] / demand[r], r};
      }
    }
    return result;
  }

  std::uint32_t shading_, resident_;
  std::array<double, 3> capacity_{};
  std::vector<double> last_end_;
  double busy_ = 0, job_cycles_ = 0;
};

inline machine::Job slow_charge(machine::Job job, std::uint32_t hits, std::uint32_t lanes, std::uint32_t moved,
                                bool formed, bool exchanged, const scheduler::Charges& charges,
                                const machine::Extra& extra, double bandwidth) {
  job.issue += hits * extra.hit_issue;
  job.shading += hits * extra.hit_issue * extra.latency_per_issue;
  if (formed) {
    job.bytes += charges.bytes_per_moved * moved + charges.bytes_per_thread * lanes;
    job.reorder += charges.cycles_per_cut;
  }
  if (formed && exchanged) {
    job.reorder += charges.cycles_per_warp;
  }
  job.reorder += job.bytes / bandwidth;
  return job;
}

/// The rules 1 and 2 of timing.hpp, by searching.
inline machine::Timing slow_time_schedule(const scheduler::SegmentSchedule& schedule, const machine::Workload& workload,
                                          const machine::Machine& machine, std::uint32_t resident,
                                          const scheduler::Charges& charges, const machine::Extra& extra) {
  SlowSms sms(machine, resident, charges);
  const std::size_t warps = schedule.warps();
  std::vector<std::uint32_t> unit_of(warps), round_of(warps);
  std::vector<bool> started(warps, false), ended(warps, false);
  std::vector<std::uint32_t> sm_of_unit(schedule.units(), scheduler::kAnySm);
  for (std::uint32_t unit = 0; unit < schedule.units(); ++unit) {
    if (schedule.unit_sm[unit] != scheduler::kAnySm) {
      sm_of_unit[unit] = schedule.unit_sm[unit] % sms.shading();
    }
    for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
      for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
        unit_of[warp] = unit;
        round_of[warp] = static_cast<std::uint32_t>(round);
      }
    }
  }
  machine::Placement placed;
  placed.sm.resize(warps);
  placed.slot.resize(warps);
  placed.start.resize(warps);
  placed.end.resize(warps);
  /// The unit's first warp that has not started, if all of its earlier rounds have ended.
  const auto waiting = [&](std::uint32_t unit) {
    const std::uint64_t begin = schedule.round_begin[schedule.unit_begin[unit]];
    const std::uint64_t end = schedule.round_begin[schedule.unit_begin[unit + 1]];
    for (std::uint64_t warp = begin; warp < end; ++warp) {
      if (!started[warp]) {
        for (std::uint64_t earlier = begin; earlier < warp; ++earlier) {
          if (round_of[earlier] < round_of[warp] && !ended[earlier]) {
            return warps;
          }
        }
        return static_cast<std::size_t>(warp);
      }
    }
    return warps;
  };
  const auto start = [&](std::size_t warp, std::uint32_t sm) {
    const std::uint32_t unit = unit_of[warp];
    const std::uint64_t first = schedule.unit_begin[unit];
    const machine::Job job = slow_charge(
        workload.jobs[warp], workload.hits[warp], workload.lanes[warp], schedule.moved[warp], round_of[warp] > first,
        schedule.round_begin[first + 1] - schedule.round_begin[first] > 1, charges, extra, sms.bandwidth());
    sms.timing.traffic_bytes += job.bytes;
    started[warp] = true;
    placed.sm[warp] = sm + charges.withheld_sms;
    placed.slot[warp] = sms.start(sm, static_cast<std::uint32_t>(warp), job);
    placed.start[warp] = sms.now;
  };
  const auto fill = [&] {
    for (std::uint32_t sm = 0; sm < sms.shading(); ++sm) {
      for (std::uint32_t unit = 0; unit < schedule.units(); ++unit) {
        while (sm_of_unit[unit] == sm && sms.has_room(sm) && waiting(unit) < warps) {
          start(waiting(unit), sm);
        }
      }
    }
    for (std::uint32_t unit = 0; unit < schedule.units(); ++unit) {
      while (sm_of_unit[unit] == scheduler::kAnySm && sms.emptiest() < sms.shading() && waiting(unit) < warps) {
        const std::uint32_t sm = sms.emptiest();
        if (schedule.spread) {
          start(waiting(unit), sm);
        } else {
          sm_of_unit[unit] = sm;
          while (sms.has_room(sm) && waiting(unit) < warps) {
            start(waiting(unit), sm);
          }
        }
      }
    }
  };
  fill();
  while (!sms.running.empty()) {
    for (const SlowJob& job : sms.advance(sms.next_end())) {
      ended[job.number] = true;
      placed.end[job.number] = sms.now;
    }
    fill();
  }
  sms.finish(machine, charges);
  sms.timing.placement = placed;
  return sms.timing;
}

}  // namespace rayreplay::test
