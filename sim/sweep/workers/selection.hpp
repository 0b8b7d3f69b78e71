// The units of a plan that are still to be done, and how they are shared out.
//
// Contract: `select_units` cuts the plan to what this process is asked for: runs that are not finished, those of a
// shard, the first runs of a sweep that stops by count. Shards: units of one affinity stay together as far as that
// leaves shards of about equal numbers of runs; every unit belongs to exactly one of them, whatever is finished.
//   `TaskSource` gives out the tasks in the plan's order. The ranks of a team have the same tasks: each takes the next
// piece by a counter that all share. A piece is a few tasks of one affinity: half of a worker's equal part of the runs
// that are left, and at least one task, so that pieces become small towards the end (guided self-scheduling: C.
// Polychronopoulos and D. Kuck, IEEE Trans. Computers C-36(12), 1987).
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
  std::uint64_t most_now = 0;   ///< of the unfinished ones, in the order of work; 0: all
};

[[nodiscard]] Selection select_units(const std::vector<Unit>& units, const std::vector<bool>& finished,
                                     const SelectOptions& options);

/// By piece: the number of its last task, plus one.
[[nodiscard]] std::vector<std::size_t> piece_ends(const std::vector<Task>& tasks, int workers);

class TaskSource {
 public:
  TaskSource(std::vector<Task> tasks, Team* team);

  /// Nothing where all are given out.
  [[nodiscard]] std::optional<Task> next();
  /// `next` gives one without asking the team.
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
