#include "sim/sweep/workers/unit_queue.hpp"

#include <algorithm>

namespace rayreplay::sweep {
namespace {

/// Pieces of one affinity for each shard, where a shard would otherwise get too much.
constexpr std::uint64_t kPiecesPerShard = 4;
/// How far ahead a unit is looked for that suits a worker: giving out stays cheap, and the order near the plan's.
constexpr std::size_t kLookAhead = 1024;

/// By unit: its shard.
std::vector<std::uint32_t> shards_of(const std::vector<Unit>& units, std::uint32_t shards) {
  std::uint64_t runs = 0;
  for (const Unit& unit : units) {
    runs += unit.runs.size();
  }
  const std::uint64_t most = std::max<std::uint64_t>(1, runs / (kPiecesPerShard * shards));
  std::vector<std::uint32_t> shard_of(units.size());
  std::vector<std::uint64_t> load(shards, 0);
  for (std::size_t first = 0; first < units.size();) {
    std::size_t end = first;
    std::uint64_t piece = 0;
    do {
      piece += units[end].runs.size();
      ++end;
    } while (end < units.size() && units[end].affinity == units[first].affinity &&
             piece + units[end].runs.size() <= most);
    const auto least = std::min_element(load.begin(), load.end());
    *least += piece;
    std::fill(shard_of.begin() + static_cast<std::ptrdiff_t>(first),
              shard_of.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::uint32_t>(least - load.begin()));
    first = end;
  }
  return shard_of;
}

}  // namespace

Selection select_units(const std::vector<Unit>& units, const std::vector<bool>& finished,
                       const SelectOptions& options) {
  const std::vector<std::uint32_t> shard_of = shards_of(units, options.shards);
  Selection selection;
  std::uint64_t left = options.most_now;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (shard_of[i] != options.shard) {
      continue;
    }
    Task task{i, units[i].affinity, {}};
    for (const std::uint64_t run : units[i].runs) {
      if (options.most_runs > 0 && run >= options.most_runs) {
        continue;
      }
      ++selection.total;
      if (run < finished.size() && finished[run]) {
        ++selection.finished;
      } else if (options.most_now == 0 || left > 0) {
        left -= left > 0 ? 1 : 0;
        task.runs.push_back(run);
      }
    }
    if (!task.runs.empty()) {
      selection.tasks.push_back(std::move(task));
    }
  }
  return selection;
}

std::uint64_t units_in_hand(std::uint64_t capacity, std::uint64_t left, std::uint64_t processes) {
  const std::uint64_t workers = std::max<std::uint64_t>(1, capacity / kUnitsInHand);
  // Half of what is left: the other half evens out what took longer.
  const std::uint64_t fair = left / (2 * std::max<std::uint64_t>(1, processes));
  return std::min(capacity, workers + fair);
}

UnitQueue::UnitQueue(std::vector<Task> tasks)
    : tasks_(std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end())) {}

std::optional<Task> UnitQueue::next(std::optional<std::uint64_t> last_affinity) {
  if (tasks_.empty()) {
    return std::nullopt;
  }
  const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(std::min(tasks_.size(), kLookAhead));
  auto chosen = end;
  if (last_affinity) {
    chosen = std::find_if(tasks_.begin(), end, [&](const Task& task) { return task.affinity == *last_affinity; });
  }
  if (chosen == end) {
    chosen = std::find_if(tasks_.begin(), end, [&](const Task& task) { return started_[task.affinity] == 0; });
  }
  if (chosen == end) {
    chosen = tasks_.begin();
  }
  return take(chosen);
}

std::optional<Task> UnitQueue::first() {
  return tasks_.empty() ? std::nullopt : std::optional<Task>(take(tasks_.begin()));
}

Task UnitQueue::take(std::deque<Task>::iterator chosen) {
  Task task = std::move(*chosen);
  tasks_.erase(chosen);
  ++started_[task.affinity];
  return task;
}

void UnitQueue::give_back(Task task) {
  tasks_.push_front(std::move(task));
}

}  // namespace rayreplay::sweep
