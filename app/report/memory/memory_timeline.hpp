// Memory time over time, as counters for Perfetto and as charts.
//
// Contract: a process for the launch and one for each SM. Counters have a sample at the start of each window: misses
// and bytes of the window, whose sums are the launch's (sim/machine/time_history.hpp); means of MSHRs in use and
// resident warps over the window, and of the bandwidth taken in percent, rounded. A last sample of 0 is at the launch's
// end. Errors as Timeline's.
#pragma once

#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/time_history.hpp"

namespace rayreplay::report {

void write_memory_timeline(const std::string& path, bool force, const machine::TimeHistory& history,
                           const machine::Machine& machine, const std::string& name);

/// A history and the name of its line.
struct NamedHistory {
  std::string name;
  const machine::TimeHistory* history = nullptr;
};
/// Of the whole machine: miss rates, MSHRs in use, bandwidth and resident warps over time. Empty without histories.
[[nodiscard]] std::vector<pictures::Chart> history_charts(const std::vector<NamedHistory>& histories,
                                                          const machine::Machine& machine);

}  // namespace rayreplay::report
