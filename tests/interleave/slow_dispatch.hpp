// The rules of sim/machine/dispatcher.hpp once more, by searching whole lists: slow, and easy to believe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/machine/work_distribution.hpp"

namespace rayreplay::test {

class SlowDispatch {
 public:
  virtual ~SlowDispatch() = default;
  [[nodiscard]] virtual bool runs(std::uint32_t /*sm*/) const {
    return true;
  }
  [[nodiscard]] virtual bool work_left() const = 0;
  virtual std::optional<std::uint32_t> own(std::uint32_t sm, std::uint64_t cycle) = 0;
  virtual std::optional<std::uint32_t> shared(std::uint32_t sm, std::uint64_t cycle) = 0;
  virtual void ended(std::uint32_t /*item*/, std::uint32_t /*sm*/, std::uint64_t /*cycle*/) {}
  /// All ends of the cycle have been told.
  virtual void told(std::uint64_t /*cycle*/) {}
  /// False: the SM takes no shared item.
  [[nodiscard]] virtual bool admits(std::uint32_t /*sm*/) const {
    return true;
  }
  /// The item's place among the delays.
  [[nodiscard]] virtual std::size_t delay_of(std::uint32_t item) const {
    return item;
  }
};

class SlowQueues : public SlowDispatch {
 public:
  explicit SlowQueues(const machine::WorkPlan& plan) {
    for (std::size_t queue = 0; queue < plan.queues(); ++queue) {
      queues_.emplace_back(plan.queue.begin() + static_cast<std::ptrdiff_t>(plan.queue_begin[queue]),
                           plan.queue.begin() + static_cast<std::ptrdiff_t>(plan.queue_begin[queue + 1]));
    }
  }
  [[nodiscard]] bool work_left() const override {
    return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return !queue.empty(); });
  }
  std::optional<std::uint32_t> own(std::uint32_t sm, std::uint64_t /*cycle*/) override {
    return queues_.size() == 1 ? std::nullopt : next(sm);
  }
  std::optional<std::uint32_t> shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/) override {
    return queues_.size() == 1 ? next(0) : std::nullopt;
  }

 private:
  std::optional<std::uint32_t> next(std::size_t queue) {
    if (queues_[queue].empty()) {
      return {};
    }
    const std::uint32_t item = queues_[queue].front();
    queues_[queue].pop_front();
    return item;
  }

  std::vector<std::list<std::uint32_t>> queues_;
};

class SlowUnits : public SlowDispatch {
 public:
  SlowUnits(const scheduler::SegmentSchedule& schedule, std::uint32_t sms, std::uint32_t withheld,
            std::uint64_t signal_cycles)
      : withheld_(withheld), signal_cycles_(signal_cycles), is_spread_(schedule.spread) {
    for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
      Unit& one = units_.emplace_back();
      if (schedule.unit_sm[unit] != scheduler::kAnySm) {
        one.sm = withheld + schedule.unit_sm[unit] % (sms - withheld);
      }
      for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
        auto& warps = one.rounds.emplace_back();
        for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
          warps.push_back(static_cast<std::uint32_t>(warp));
          unit_of_[warps.back()] = unit;
        }
      }
      open_.insert(unit);
    }
  }
  [[nodiscard]] bool runs(std::uint32_t sm) const override {
    return sm >= withheld_;
  }
  [[nodiscard]] bool work_left() const override {
    return std::any_of(units_.begin(), units_.end(), [](const Unit& unit) { return unit.round < unit.rounds.size(); });
  }
  std::optional<std::uint32_t> own(std::uint32_t sm, std::uint64_t cycle) override {
    for (const std::size_t unit : open_) {
      if (units_[unit].sm == sm && units_[unit].opens <= cycle) {
        return start(unit);
      }
    }
    return {};
  }
  std::optional<std::uint32_t> shared(std::uint32_t sm, std::uint64_t cycle) override {
    for (const std::size_t unit : open_) {
      if (!units_[unit].sm && units_[unit].opens <= cycle) {
        if (!is_spread_) {
          units_[unit].sm = sm;
        }
        return start(unit);
      }
    }
    return {};
  }
  void ended(std::uint32_t item, std::uint32_t /*sm*/, std::uint64_t cycle) override {
    Unit& unit = units_[unit_of_[item]];
    if (++unit.ended == unit.rounds[unit.round].size()) {
      ++unit.round;
      unit.started = unit.ended = 0;
      unit.opens = cycle + (unit.sm ? 0 : signal_cycles_);
      if (unit.round < unit.rounds.size()) {
        open_.insert(unit_of_[item]);
      }
    }
  }

 private:
  struct Unit {
    std::optional<std::uint32_t> sm{};
    std::vector<std::vector<std::uint32_t>> rounds;
    std::size_t round = 0;
    std::size_t started = 0, ended = 0;  ///< warps of the round
    std::uint64_t opens = 0;             ///< the round
  };

  std::uint32_t start(std::size_t number) {
    Unit& unit = units_[number];
    const auto& warps = unit.rounds[unit.round];
    const std::uint32_t warp = warps[unit.started++];
    if (unit.started == warps.size()) {
      open_.erase(number);
    }
    return warp;
  }

  std::uint32_t withheld_;
  std::uint64_t signal_cycles_;
  bool is_spread_;
  std::vector<Unit> units_;
  std::map<std::uint32_t, std::size_t> unit_of_;
  std::set<std::size_t> open_;  ///< units whose round has warps to start
};

class SlowPlayed : public SlowDispatch {
 public:
  SlowPlayed(const scheduler::SegmentSchedule& schedule, const scheduler::Segments& segments,
             std::vector<std::uint32_t> sm_of_warp, std::uint64_t signal_cycles)
      : schedule_(schedule),
        sm_of_(std::move(sm_of_warp)),
        signal_cycles_(signal_cycles),
        first_(segments.first.begin(), segments.first.end()) {
    for (std::uint32_t warp = 0; warp < schedule.warps(); ++warp) {
      queues_[sm_of_[warp]].push_back(warp);
    }
  }

  [[nodiscard]] bool work_left() const override {
    return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return !queue.second.empty(); });
  }
  std::optional<std::uint32_t> own(std::uint32_t sm, std::uint64_t cycle) override {
    std::list<std::uint32_t>& queue = queues_[sm];
    if (queue.empty() || !may_start(queue.front(), cycle)) {
      return {};  // those behind it wait, too
    }
    const std::uint32_t warp = queue.front();
    queue.pop_front();
    return warp;
  }
  std::optional<std::uint32_t> shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/) override {
    return {};
  }
  void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle) override {
    for (std::uint32_t lane = 0; lane < schedule_.warp_size; ++lane) {
      ended_[schedule_.segment_at[std::size_t{item} * schedule_.warp_size + lane]] = {sm, cycle};
    }
  }

 private:
  [[nodiscard]] bool may_start(std::uint32_t warp, std::uint64_t cycle) const {
    for (std::uint32_t lane = 0; lane < schedule_.warp_size; ++lane) {
      const std::uint32_t segment = schedule_.segment_at[std::size_t{warp} * schedule_.warp_size + lane];
      if (segment == scheduler::kNoSegment || first_.count(segment) != 0) {
        continue;
      }
      const auto before = ended_.find(segment - 1);
      if (before == ended_.end() ||
          cycle < before->second.second + (before->second.first == sm_of_[warp] ? 0 : signal_cycles_)) {
        return false;
      }
    }
    return true;
  }

  const scheduler::SegmentSchedule& schedule_;
  std::vector<std::uint32_t> sm_of_;
  std::uint64_t signal_cycles_;
  std::set<std::uint32_t> first_;  ///< segments that are the first of their thread
  std::map<std::uint32_t, std::list<std::uint32_t>> queues_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> ended_;  ///< by segment: SM, cycle
};

}  // namespace rayreplay::test
