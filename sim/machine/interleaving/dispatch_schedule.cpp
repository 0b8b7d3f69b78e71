// Static segment schedules: units, rounds, and the SMs that units belong to.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "sim/machine/dispatcher.hpp"
#include "sim/machine/schedule_round.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::kAnySm;
using scheduler::SegmentSchedule;

class ScheduleDispatcher final : public Dispatcher {
 public:
  ScheduleDispatcher(const SegmentSchedule& schedule, const Machine& machine, std::uint32_t withheld_sms)
      : schedule_(&schedule),
        sms_(machine.sms),
        withheld_(withheld_sms),
        signal_cycles_(machine.l2_latency_cycles),
        units_(schedule.units()),
        unit_of_(schedule.warps()),
        waiting_(machine.sms) {
    for (std::uint32_t number = 0; number < units_.size(); ++number) {
      if (schedule.unit_sm[number] != kAnySm && enter_round(number, schedule.unit_begin[number])) {
        bind(number, withheld_ + schedule.unit_sm[number] % (sms_ - withheld_));
      }
    }
    skip_to_unbound();
  }

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(schedule_->warps());
  }
  [[nodiscard]] std::uint32_t first_sm() const override {
    return withheld_;
  }
  [[nodiscard]] bool signals() const override {
    return schedule_->spread;
  }
  [[nodiscard]] std::uint32_t take_own(std::uint32_t sm, std::uint64_t /*cycle*/) override {
    LowestFirst& waiting = waiting_[sm];
    if (waiting.empty()) {
      return kNone;
    }
    const std::uint32_t number = waiting.top();
    const std::uint32_t warp = next_warp_of(number);
    if (is_out(number)) {
      waiting.pop();
    }
    return warp;
  }
  [[nodiscard]] bool has_shared(std::uint32_t /*sm*/, std::uint64_t cycle) const override {
    return next_unit_ < units_.size() || lowest_open(cycle) != kNone;
  }
  [[nodiscard]] std::uint32_t take_shared(std::uint32_t sm, std::uint64_t cycle,
                                          std::vector<Release>& /*releases*/) override {
    std::uint32_t number = lowest_open(cycle);
    if (number == kNone || next_unit_ < number) {
      if (next_unit_ == units_.size()) {
        return kNone;
      }
      number = next_unit_++;
      skip_to_unbound();
      if (schedule_->spread) {
        open_.insert(number);
        running_.insert(number);
      } else {
        bind(number, sm);
        return take_own_of(number, sm);
      }
    }
    const std::uint32_t warp = next_warp_of(number);
    if (is_out(number)) {
      open_.erase(number);
    }
    return warp;
  }
  void ended(std::uint32_t item, std::uint32_t /*sm*/, std::uint64_t cycle, std::vector<Release>& releases) override {
    const std::uint32_t number = unit_of_[item];
    Unit& unit = units_[number];
    unit.last_end = std::max(unit.last_end, cycle);
    if (--unit.unfinished > 0 || !enter_round(number, unit.round + 1)) {
      return;
    }
    if (unit.sm != kAnySm) {
      waiting_[unit.sm].push(number);
      return;
    }
    unit.opens = unit.last_end + signal_cycles_;
    open_.insert(number);
    for (std::uint32_t sm = withheld_; sm < sms_; ++sm) {
      releases.push_back({sm, unit.opens});
    }
  }
  [[nodiscard]] std::uint64_t next_release(std::uint32_t /*sm*/, std::uint64_t cycle) const override {
    std::uint64_t next = kNever;
    for (const std::uint32_t number : open_) {
      if (units_[number].opens > cycle) {
        next = std::min(next, units_[number].opens);
      }
    }
    return next;
  }
  void append_next(std::size_t most, std::vector<std::uint32_t>& items) const override {
    // Warps of a unit are taken in order, round after round. Units run side by side; those without an SM follow.
    const std::uint64_t each = std::max<std::uint64_t>(most / (running_.size() + 1), 1);
    for (const std::uint32_t number : running_) {
      append_warps(units_[number].next_warp, std::min(units_[number].next_warp + each, end_of(number)), items);
    }
    std::uint64_t left = each;
    for (std::uint32_t number = next_unit_; number < units_.size() && left > 0; ++number) {
      if (schedule_->unit_sm[number] == kAnySm) {
        const std::uint64_t begin = schedule_->round_begin[schedule_->unit_begin[number]];
        const std::uint64_t end = std::min(begin + left, end_of(number));
        append_warps(begin, end, items);
        left -= end - begin;
      }
    }
  }

 private:
  using LowestFirst = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

  struct Unit : ScheduleRound {
    std::uint64_t opens = 0;     ///< start of the round, if spread
    std::uint64_t last_end = 0;  ///< of its warps: those of other SMs may be reported out of order
    std::uint32_t sm = kAnySm;   ///< kAnySm: none yet, or each warp has its own
  };

  static void append_warps(std::uint64_t begin, std::uint64_t end, std::vector<std::uint32_t>& items) {
    for (std::uint64_t warp = begin; warp < end; ++warp) {
      items.push_back(static_cast<std::uint32_t>(warp));
    }
  }
  /// One past the unit's last warp.
  [[nodiscard]] std::uint64_t end_of(std::uint32_t number) const {
    return schedule_->round_begin[schedule_->unit_begin[number + 1]];
  }
  [[nodiscard]] bool is_out(std::uint32_t number) const {
    return units_[number].is_out(*schedule_);
  }

  bool enter_round(std::uint32_t number, std::uint64_t round) {
    return units_[number].enter(*schedule_, number, round);
  }
  /// Moves `next_unit_` to the next unit that has warps and no SM, and enters its first round.
  void skip_to_unbound() {
    while (next_unit_ < units_.size() &&
           (schedule_->unit_sm[next_unit_] != kAnySm || !enter_round(next_unit_, schedule_->unit_begin[next_unit_]))) {
      ++next_unit_;
    }
  }
  void bind(std::uint32_t number, std::uint32_t sm) {
    running_.insert(number);
    units_[number].sm = sm;
    waiting_[sm].push(number);
  }
  /// The first warp of a unit that has just got its SM, whose other units have no warps left to start.
  std::uint32_t take_own_of(std::uint32_t number, std::uint32_t sm) {
    const std::uint32_t warp = next_warp_of(number);
    if (is_out(number)) {
      waiting_[sm].pop();
    }
    return warp;
  }
  std::uint32_t next_warp_of(std::uint32_t number) {
    const auto warp = static_cast<std::uint32_t>(units_[number].next_warp++);
    unit_of_[warp] = number;
    if (units_[number].next_warp == end_of(number)) {
      running_.erase(number);
    }
    return warp;
  }
  /// The lowest spread unit with warps to start in this cycle; kNone.
  [[nodiscard]] std::uint32_t lowest_open(std::uint64_t cycle) const {
    for (const std::uint32_t number : open_) {
      if (units_[number].opens <= cycle) {
        return number;
      }
    }
    return kNone;
  }

  const SegmentSchedule* schedule_;
  std::uint32_t sms_, withheld_;
  std::uint64_t signal_cycles_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_;  ///< by warp that was taken
  std::vector<LowestFirst> waiting_;    ///< by SM: its units with warps to start
  std::set<std::uint32_t> running_;     ///< units that some SM took, with warps to start in this round or a later one
  std::set<std::uint32_t> open_;        ///< spread units with warps to start, now or from `opens` on
  std::uint32_t next_unit_ = 0;         ///< the first unit without an SM that nobody has taken
};

}  // namespace

std::unique_ptr<Dispatcher> dispatch_schedule(const SegmentSchedule& schedule, const Machine& machine,
                                              std::uint32_t withheld_sms) {
  return std::make_unique<ScheduleDispatcher>(schedule, machine, withheld_sms);
}

}  // namespace rayreplay::machine
