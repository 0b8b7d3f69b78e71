// The unfinished units of a plan, and their distribution.
//
// Contract: `select_units` reduces the plan to the work of this process: unfinished runs, those of a shard, the first
// runs of a sweep with a run limit. Shards: units of one affinity stay together as long as shards have about equal
// numbers of runs. Every unit belongs to exactly one shard, independent of what is finished.
//
// `TaskSource` hands out the tasks in the plan's order. All ranks of a team have the same tasks; each takes the next
// piece by a shared counter. A piece has a few tasks of one affinity: half of a worker's equal part of the remaining
// runs, and at least one task, so pieces shrink towards the end (guided self-scheduling: C. Polychronopoulos and D.
// Kuck, IEEE Trans. Computers C-36(12), 1987).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/workers/team.hpp"

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
  std::uint64_t most_now = 0;   ///< limit of unfinished runs, in the order of work; 0: all
};

[[nodiscard]] Selection select_units(const std::vector<Unit>& units, const std::vector<bool>& finished,
                                     const SelectOptions& options);

/// By piece: the number of its last task, plus one.
[[nodiscard]] std::vector<std::size_t> piece_ends(const std::vector<Task>& tasks, int workers);

class TaskSource {
 public:
  TaskSource(std::vector<Task> tasks, Team* team);

  /// Empty when all tasks are handed out.
  [[nodiscard]] std::optional<Task> next();
  /// True if `next` returns one without asking the team.
  [[nodiscard]] bool at_hand() const {
    return at_ < end_;
  }
  [[nodiscard]] bool over() const {
    return over_ && at_ == end_;
  }

 private:
  std::vector<Task> tasks_;
  Team* team_;
  std::vector<std::size_t> ends_;
  std::size_t at_ = 0, end_ = 0;
  bool over_ = false;
};

}  // namespace rayreplay::sweep
