#include "sim/sweep/workers/selection.hpp"

#include <algorithm>
#include <utility>

namespace rayreplay::sweep {
namespace {

/// Number of pieces per shard into which an affinity is cut if one shard would otherwise get too much.
constexpr std::uint64_t kPiecesPerShard = 4;

/// The shard of each unit.
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

std::vector<std::size_t> piece_ends(const std::vector<Task>& tasks, int workers) {
  std::uint64_t left = 0;
  for (const Task& task : tasks) {
    left += task.runs.size();
  }
  std::vector<std::size_t> ends;
  for (std::size_t first = 0; first < tasks.size(); first = ends.back()) {
    const std::uint64_t most = left / (2 * static_cast<std::uint64_t>(std::max(1, workers)));
    std::uint64_t runs = tasks[first].runs.size();
    std::size_t end = first + 1;
    for (; end < tasks.size() && tasks[end].affinity == tasks[first].affinity; ++end) {
      if (runs + tasks[end].runs.size() > most) {
        break;
      }
      runs += tasks[end].runs.size();
    }
    left -= runs;
    ends.push_back(end);
  }
  return ends;
}

TaskSource::TaskSource(std::vector<Task> tasks, Team* team) : tasks_(std::move(tasks)), team_(team) {
  if (team_ == nullptr) {
    end_ = tasks_.size();
    over_ = true;
  } else {
    ends_ = piece_ends(tasks_, team_->workers());
  }
}

std::optional<Task> TaskSource::next() {
  if (at_ == end_ && !over_) {
    const auto piece = static_cast<std::uint64_t>(team_->fetch_add(Counter::NextPiece, 1));
    if (piece < ends_.size()) {
      at_ = piece == 0 ? 0 : ends_[piece - 1];
      end_ = ends_[piece];
    } else {
      over_ = true;
    }
  }
  return at_ == end_ ? std::nullopt : std::optional<Task>(std::move(tasks_[at_++]));
}

}  // namespace rayreplay::sweep
