#include "sim/sweep/workers/tally.hpp"

#include <algorithm>
#include <cmath>

namespace rayreplay::sweep {

Tally::Tally(std::uint64_t total, std::uint64_t finished_before, std::uint64_t wanted,
             std::optional<Objective> objective)
    : before_(finished_before), wanted_(wanted), objective_(std::move(objective)) {
  standing_.total = total;
  standing_.seconds_left = -1;
}

void Tally::begin_with(const std::optional<BestRow>& best) {
  if (best) {
    standing_.has_best = true;
    standing_.best = best->value;
    standing_.best_run = best->run;
  }
}

void Tally::add(std::span<const ResultRow> rows) {
  for (const ResultRow& row : rows) {
    ++added_;
    if (row.outcome.failure) {
      ++standing_.failed;
      continue;
    }
    if (!objective_) {
      continue;
    }
    const auto metric = std::find_if(row.outcome.metrics.begin(), row.outcome.metrics.end(),
                                     [&](const auto& entry) { return entry.first == objective_->metric; });
    if (metric == row.outcome.metrics.end() || std::isnan(metric->second)) {
      continue;
    }
    const bool better =
        objective_->goal == experiment::Goal::Less ? metric->second < standing_.best : metric->second > standing_.best;
    const bool same = metric->second == standing_.best && row.run < standing_.best_run;
    if (!standing_.has_best || better || same) {
      standing_.has_best = true;
      standing_.best = metric->second;
      standing_.best_run = row.run;
    }
  }
}

void Tally::set_counts(std::uint64_t added, std::uint64_t failed) {
  added_ = added;
  standing_.failed = failed;
}

Standing Tally::standing() const {
  Standing now = standing_;
  now.done = before_ + added_;
  now.seconds = seconds();
  if (added_ > 0) {
    const std::uint64_t left = wanted_ - std::min(wanted_, added_);
    now.seconds_left = now.seconds / static_cast<double>(added_) * static_cast<double>(left);
  }
  return now;
}

}  // namespace rayreplay::sweep
