// Progress of a running sweep: one redrawn line on a terminal, else a line from time to time.
//
// Contract: all on standard error. `show` redraws the line on a terminal, and elsewhere prints one at most every ten
// seconds. The destructor erases the line.
#pragma once

#include <chrono>
#include <string>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/workers/runner.hpp"

namespace rayreplay::app {

class SweepView {
 public:
  explicit SweepView(const sweep::Definition& definition);
  ~SweepView();
  SweepView(const SweepView&) = delete;
  SweepView& operator=(const SweepView&) = delete;

  void show(const sweep::Standing& standing);

 private:
  void erase();

  std::string metric_;  ///< of the objective
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// "sweep  [####......]  40 %  400/1000  2 failed  3 min 20 s left  best l1_hit_rate 0.83 (run 17)"
[[nodiscard]] std::string standing_line(const sweep::Standing& standing, const std::string& metric, bool bar);
/// "45 s", "3 min 20 s", "2 h 05 min", "3 days 4 h"
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace rayreplay::app
