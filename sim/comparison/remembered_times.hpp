// Memoised times by shader cost.
//
// Contract: `at(x)` calls the function once for each x. Several threads that ask for one x at the same time may each
// call it; they get the same value because the function is pure. Thread-safe. O(log(costs)) beside the function.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "sim/machine/timing.hpp"

namespace rayreplay::experiment {

class RememberedTimes {
 public:
  struct Time {
    double cycles = 0;
    double busy_share = 0;
  };
  using Function = std::function<machine::Timing(double)>;

  RememberedTimes() = default;
  explicit RememberedTimes(Function function) : function_(std::move(function)) {}

  void remember(double x, const machine::Timing& timing) {
    const std::lock_guard lock(mutex_);
    known_[x] = {timing.cycles, timing.busy_share};
  }
  Time at(double x) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = known_.find(x);
      if (known != known_.end()) {
        return known->second;
      }
    }
    const machine::Timing timing = function_(x);
    remember(x, timing);
    return {timing.cycles, timing.busy_share};
  }

 private:
  Function function_;
  std::map<double, Time> known_;
  std::mutex mutex_;
};

}  // namespace rayreplay::experiment
