// Threads that wait in order of arrival, and the batches taken from them; shared by exchanges.
//
// Contract: `take_first` removes the longest waiting threads and sorts them by last place (warp, lane), as `form_warps`
// needs them. O(count · log count).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

/// `ticket`: number of the arrival, which orders the first threads of several lines.
struct Waiter {
  Arrival arrival;
  double since_cycles = 0;
  std::uint64_t ticket = 0;
};

using WaitingLine = std::deque<Waiter>;

/// At most `count` threads, into `batch`, whose content is replaced.
inline void take_first(WaitingLine& line, std::size_t count, std::vector<Arrival>& batch) {
  const auto end = line.begin() + static_cast<std::ptrdiff_t>(std::min(count, line.size()));
  batch.clear();
  for (auto waiter = line.begin(); waiter != end; ++waiter) {
    batch.push_back(waiter->arrival);
  }
  line.erase(line.begin(), end);
  std::sort(batch.begin(), batch.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.warp, a.lane, a.segment) < std::tie(b.warp, b.lane, b.segment);
  });
}

}  // namespace rayreplay::scheduler
