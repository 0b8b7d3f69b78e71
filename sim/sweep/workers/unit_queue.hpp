// The units of a plan that are still to be done, in the plan's order.
//
// Contract: `select_units` cuts the plan to what this process is asked for: runs that are not finished, those of a
// shard, the first runs of a sweep that stops by count. Shards: units of one affinity stay together as far as that
// leaves shards of about equal numbers of runs; every unit belongs to exactly one of them, whatever is finished.
// `first` is the first unit; `next`, for one of several machines, prefers a unit of the affinity that the machine
// worked on last, then one of an affinity that nobody has had, then the first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::sweep {

struct Task {
  std::uint64_t id = 0;  ///< the unit's number in the plan
  std::uint64_t affinity = 0;
  std::vector<std::uint64_t> runs;
};

struct Selection {
  std::vector<Task> tasks;
  std::uint64_t total = 0;     ///< runs of this shard
  std::uint64_t finished = 0;  ///< of these
};

struct SelectOptions {
  std::uint32_t shard = 0, shards = 1;
  std::uint64_t most_runs = 0;  ///< only runs below it; 0: all
  std::uint64_t most_now = 0;   ///< of the unfinished ones, in the order of work; 0: all
};

[[nodiscard]] Selection select_units(const std::vector<Unit>& units, const std::vector<bool>& finished,
                                     const SelectOptions& options);

/// So many for each worker: one that ends finds the next at once, also while whoever gives out work waits for the disk.
inline constexpr std::uint64_t kUnitsInHand = 3;

/// How many one of `processes` should have in hand that has room for `capacity`, while `left` are to be given out:
/// towards the end no more than it works on, so that none hoards what others could begin.
[[nodiscard]] std::uint64_t units_in_hand(std::uint64_t capacity, std::uint64_t left, std::uint64_t processes);

class UnitQueue {
 public:
  explicit UnitQueue(std::vector<Task> tasks);

  [[nodiscard]] bool empty() const {
    return tasks_.empty();
  }
  [[nodiscard]] std::uint64_t size() const {
    return tasks_.size();
  }
  [[nodiscard]] std::optional<Task> first();
  [[nodiscard]] std::optional<Task> next(std::optional<std::uint64_t> last_affinity);
  /// Of a worker that is lost: comes before all others.
  void give_back(Task task);
  void clear() {
    tasks_.clear();
  }

 private:
  [[nodiscard]] Task take(std::deque<Task>::iterator chosen);

  std::deque<Task> tasks_;
  std::map<std::uint64_t, std::uint64_t> started_;  ///< by affinity: units given out
};

}  // namespace rayreplay::sweep
