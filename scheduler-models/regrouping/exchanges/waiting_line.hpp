// Threads that wait in order of arrival, and the batches taken from them; shared by exchanges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

/// `ticket` numbers arrivals, to compare lines by the arrival of their first threads.
struct Waiter {
  Arrival arrival;
  double since_cycles = 0;
  std::uint64_t ticket = 0;
};

using WaitingLine = std::deque<Waiter>;

/// Takes the first `count` threads, in order of their last places, as `form_warps` needs them.
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
