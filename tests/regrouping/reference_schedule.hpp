// schedule_rounds and form_warps, slow and obvious: written from regroup.hpp alone, with maps and a stable sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::test {

struct ReferenceWarp {
  std::map<std::uint32_t, std::uint32_t> segment_of_lane;
  std::uint32_t moved = 0;
};
using ReferenceRound = std::vector<ReferenceWarp>;
struct ReferenceUnit {
  std::uint32_t sm = scheduler::kAnySm;
  std::vector<ReferenceRound> rounds;
};

struct ReferenceThread {
  std::uint32_t segment;
  std::uint32_t warp;
  std::uint32_t lane;
};

/// `waiting` in order of place.
inline ReferenceRound reference_warps(std::vector<ReferenceThread> waiting, const trace::Column<std::uint64_t>& keys,
                                      std::uint32_t warp_size, const scheduler::Regrouping& regrouping) {
  std::stable_sort(waiting.begin(), waiting.end(), [&](const ReferenceThread& a, const ReferenceThread& b) {
    return keys.at(a.segment) < keys.at(b.segment);
  });
  std::vector<std::vector<ReferenceThread>> warps;
  for (const ReferenceThread& thread : waiting) {
    const bool full = warps.empty() || warps.back().size() == warp_size;
    if (full || (regrouping.split_keys && keys.at(warps.back().back().segment) != keys.at(thread.segment))) {
      warps.emplace_back();
    }
    warps.back().push_back(thread);
  }
  std::set<std::uint32_t> claimed;
  ReferenceRound round;
  for (const auto& threads : warps) {
    ReferenceWarp warp;
    std::vector<ReferenceThread> homeless;
    for (const ReferenceThread& thread : threads) {
      if (!regrouping.keep_lanes || !warp.segment_of_lane.emplace(thread.lane, thread.segment).second) {
        homeless.push_back(thread);
      }
    }
    for (const ReferenceThread& thread : homeless) {
      std::uint32_t lane = 0;
      while (warp.segment_of_lane.contains(lane)) {
        ++lane;
      }
      warp.segment_of_lane[lane] = thread.segment;
    }
    std::map<std::uint32_t, std::uint32_t> given;
    for (const ReferenceThread& thread : threads) {
      ++given[thread.warp];
    }
    std::uint32_t most = 0;
    std::uint32_t from = 0;
    for (const auto& [earlier, count] : given) {
      if (!claimed.contains(earlier) && count > most) {
        most = count;
        from = earlier;
      }
    }
    if (most > 0) {
      claimed.insert(from);
    }
    warp.moved = static_cast<std::uint32_t>(threads.size()) - most;
    round.push_back(warp);
  }
  return round;
}

/// `segments`: cut of the plan; `warps`: of the order, in the order in which they start.
inline std::vector<ReferenceRound> reference_rounds(const scheduler::PlanContext& plan,
                                                    const std::vector<std::uint32_t>& warps,
                                                    const trace::Column<std::uint64_t>& keys,
                                                    const scheduler::Regrouping& regrouping) {
  const std::uint32_t warp_size = plan.order.warp_size;
  std::map<std::uint32_t, std::uint32_t> end;  // of the thread that opens with the segment, and of all of its segments
  ReferenceRound round;
  for (const std::uint32_t warp : warps) {
    ReferenceWarp first;
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t thread = plan.order.thread_at.at(std::size_t{warp} * warp_size + lane);
      if (thread == scheduler::kNoThread) {
        continue;
      }
      const std::uint32_t begin = plan.segments.first.at(thread);
      for (std::uint32_t s = begin; s < plan.segments.first.at(thread + 1); ++s) {
        end[s] = plan.segments.first.at(thread + 1);
      }
      if (end.contains(begin) && end[begin] == plan.segments.first.at(thread + 1)) {
        first.segment_of_lane[lane] = begin;
      }
    }
    if (!first.segment_of_lane.empty()) {
      round.push_back(first);
    }
  }
  std::vector<ReferenceRound> rounds;
  while (!round.empty()) {
    rounds.push_back(round);
    std::vector<ReferenceThread> waiting;
    ReferenceRound same;
    for (std::uint32_t w = 0; w < round.size(); ++w) {
      ReferenceWarp stays;
      for (const auto& [lane, segment] : round[w].segment_of_lane) {
        if (segment + 1 < end.at(segment)) {
          waiting.push_back({segment + 1, w, lane});
          stays.segment_of_lane[lane] = segment + 1;
        }
      }
      if (!stays.segment_of_lane.empty()) {
        same.push_back(stays);
      }
    }
    round = reference_warps(waiting, keys, warp_size, regrouping);
    if (regrouping.only_if_fewer && round.size() >= same.size()) {
      round = same;
    }
  }
  return rounds;
}

/// The captured SM of each of the warps; empty unless all are known and on the machine, and not all of several are one.
inline std::map<std::uint32_t, std::uint32_t> reference_sms(const scheduler::PlanContext& plan,
                                                            const std::vector<std::uint32_t>& warps) {
  const trace::Launch& launch = plan.launch;
  std::map<std::uint32_t, std::uint32_t> result;
  for (const std::uint32_t warp : warps) {
    for (std::uint32_t lane = 0; lane < plan.order.warp_size && !result.contains(warp); ++lane) {
      const std::uint32_t thread = plan.order.thread_at.at(std::size_t{warp} * plan.order.warp_size + lane);
      if (thread == scheduler::kNoThread || plan.segments.first.at(thread) == plan.segments.first.at(thread + 1)) {
        continue;
      }
      result[warp] = scheduler::kAnySm;
      for (std::size_t group = 0; group < launch.groups.size() && !launch.thread_warp.empty(); ++group) {
        if (launch.groups.warp.at(group) == launch.thread_warp.at(thread)) {
          result[warp] = launch.groups.sm.at(group);
          break;
        }
      }
    }
    if (result.at(warp) >= plan.machine.sms - plan.machine.withheld_sms) {
      return {};
    }
  }
  std::set<std::uint32_t> sms;
  for (const auto& [warp, sm] : result) {
    sms.insert(sm);
  }
  return sms.size() == 1 && plan.machine.sms - plan.machine.withheld_sms > 1 ? std::map<std::uint32_t, std::uint32_t>()
                                                                             : result;
}

inline std::vector<ReferenceUnit> reference_schedule(const scheduler::PlanContext& plan,
                                                     const trace::Column<std::uint64_t>& keys,
                                                     const scheduler::Regrouping& regrouping) {
  std::map<std::uint32_t, std::uint32_t> warp_of_rank;
  for (std::uint32_t warp = 0; warp < plan.order.warps(); ++warp) {
    warp_of_rank[plan.order.start_rank.at(warp)] = warp;
  }
  std::vector<std::uint32_t> started;  // those that have segments
  for (const auto& [rank, warp] : warp_of_rank) {
    if (!reference_rounds(plan, {warp}, keys, regrouping).empty()) {
      started.push_back(warp);
    }
  }
  const std::map<std::uint32_t, std::uint32_t> captured = reference_sms(plan, started);
  std::map<std::uint32_t, std::vector<std::uint32_t>> units;
  for (std::uint32_t rank = 0; rank < started.size(); ++rank) {
    const std::uint32_t warp = started[rank];
    switch (regrouping.scope) {
      case scheduler::Scope::Warp:
        units[rank].push_back(warp);
        break;
      case scheduler::Scope::Pool:
        units[rank / regrouping.pool_warps].push_back(warp);
        break;
      case scheduler::Scope::Sm:
        units[captured.empty() ? rank % (plan.machine.sms - plan.machine.withheld_sms) : captured.at(warp)].push_back(
            warp);
        break;
      case scheduler::Scope::Launch:
        units[0].push_back(warp);
        break;
    }
  }
  std::vector<ReferenceUnit> result;
  for (const auto& [number, warps] : units) {
    ReferenceUnit unit;
    unit.sm = regrouping.scope == scheduler::Scope::Sm ? number : scheduler::kAnySm;
    unit.rounds = reference_rounds(plan, warps, keys, regrouping);
    if (!unit.rounds.empty()) {
      result.push_back(unit);
    }
  }
  return result;
}

/// In the shape of the fast one.
inline scheduler::SegmentSchedule flatten(const std::vector<ReferenceUnit>& units, std::uint32_t warp_size,
                                          bool spread) {
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = warp_size;
  schedule.spread = spread;
  schedule.round_begin.push_back(0);
  schedule.unit_begin.push_back(0);
  for (const ReferenceUnit& unit : units) {
    for (const ReferenceRound& round : unit.rounds) {
      for (const ReferenceWarp& warp : round) {
        for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
          const auto found = warp.segment_of_lane.find(lane);
          schedule.segment_at.push_back(found == warp.segment_of_lane.end() ? scheduler::kNoSegment : found->second);
        }
        schedule.moved.push_back(warp.moved);
      }
      schedule.round_begin.push_back(schedule.moved.size());
    }
    schedule.unit_begin.push_back(schedule.round_begin.size() - 1);
    schedule.unit_sm.push_back(unit.sm);
  }
  return schedule;
}

}  // namespace rayreplay::test
