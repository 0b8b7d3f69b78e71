#include "app/report/memory/memory_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "app/report/export/timeline.hpp"

namespace rayreplay::report {
namespace {

using machine::HistoryWindow;
using machine::Machine;
using machine::TimeHistory;
using pictures::Chart;
using pictures::Plot;
using pictures::PlotSeries;

constexpr double kPercent = 100;

/// The value of a counter or a line for a window of the given cycles.
using ValueOf = std::function<double(const HistoryWindow& window, double cycles)>;

ValueOf count_of(std::uint64_t HistoryWindow::*member) {
  return [member](const HistoryWindow& window, double /*cycles*/) { return static_cast<double>(window.*member); };
}

ValueOf mean_of(std::uint64_t HistoryWindow::*member) {
  return [member](const HistoryWindow& window, double cycles) {
    return cycles > 0 ? static_cast<double>(window.*member) / cycles : 0;
  };
}

/// Percent of the bandwidth.
ValueOf taken(std::uint64_t HistoryWindow::*member, double bytes_per_second, const Machine& machine) {
  const double per_cycle = bytes_per_second / (machine.clock_mhz * 1e6);
  return [member, per_cycle](const HistoryWindow& window, double cycles) {
    return cycles > 0 ? kPercent * static_cast<double>(window.*member) / (per_cycle * cycles) : 0;
  };
}

struct Counter {
  const char* name;
  ValueOf value;
};

class CounterWriter {
 public:
  CounterWriter(output::Timeline& timeline, const TimeHistory& history, const Machine& machine)
      : timeline_(timeline), history_(history), machine_(machine) {}

  void write(const std::string& process, const std::vector<HistoryWindow>& windows,
             const std::vector<Counter>& counters) {
    timeline_.begin_process(process);
    std::vector<std::uint64_t> ids;
    ids.reserve(counters.size());
    for (const Counter& counter : counters) {
      ids.push_back(timeline_.add_counter(counter.name));
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      for (std::size_t k = 0; k < counters.size(); ++k) {
        const double value = counters[k].value(windows[i], static_cast<double>(history_.cycles_of(i)));
        timeline_.count(ids[k], nanoseconds(i * history_.window_cycles()), std::llround(value));
      }
    }
    for (const std::uint64_t id : ids) {
      timeline_.count(id, nanoseconds(history_.cycles()), 0);
    }
  }

 private:
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t cycles) const {
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    return static_cast<std::uint64_t>(
        std::llround(static_cast<double>(cycles) * kNanosecondsPerMicrosecond / machine_.clock_mhz));
  }

  output::Timeline& timeline_;
  const TimeHistory& history_;
  const Machine& machine_;
};

/// A line over time for each history; `name` follows that of the history.
void add_lines(Plot& plot, const std::vector<NamedHistory>& histories, const Machine& machine, const std::string& name,
               const ValueOf& value) {
  for (const NamedHistory& one : histories) {
    PlotSeries line{.name = one.name.empty() ? name
                            : name.empty()   ? one.name
                                             : one.name + ", " + name,
                    .color = plot.series.size(),
                    .dots = false};
    const TimeHistory& history = *one.history;
    for (std::size_t i = 0; i < history.windows().size(); ++i) {
      const auto cycles = static_cast<double>(history.cycles_of(i));
      const double middle = static_cast<double>(i * history.window_cycles()) + cycles / 2;
      line.points.push_back({middle / machine.clock_mhz, value(history.windows()[i], cycles)});
    }
    plot.series.push_back(std::move(line));
  }
}

}  // namespace

void write_memory_timeline(const std::string& path, bool force, const TimeHistory& history, const Machine& machine,
                           const std::string& name) {
  output::Timeline timeline(path, force);
  CounterWriter writer(timeline, history, machine);
  writer.write(fmt::format("launch: {}", name), history.windows(),
               {{"L1 misses per window", count_of(&HistoryWindow::l1_misses)},
                {"L2 misses per window", count_of(&HistoryWindow::l2_misses)},
                {"MSHRs in use", mean_of(&HistoryWindow::miss_cycles)},
                {"L2 bytes per window", count_of(&HistoryWindow::l2_bytes)},
                {"L2 bandwidth taken (%)", taken(&HistoryWindow::l2_bytes, machine.l2_bytes_per_second, machine)},
                {"DRAM bytes per window", count_of(&HistoryWindow::dram_bytes)},
                {"DRAM bandwidth taken (%)", taken(&HistoryWindow::dram_bytes, machine.dram_bytes_per_second, machine)},
                {"resident warps", mean_of(&HistoryWindow::warp_cycles)}});
  for (std::size_t sm = 0; sm < history.of_sms().size(); ++sm) {
    writer.write(fmt::format("SM {}", sm), history.of_sms()[sm],
                 {{"L1 misses per window", count_of(&HistoryWindow::l1_misses)},
                  {"MSHRs in use", mean_of(&HistoryWindow::miss_cycles)},
                  {"resident warps", mean_of(&HistoryWindow::warp_cycles)}});
  }
  timeline.commit();
}

std::vector<Chart> history_charts(const std::vector<NamedHistory>& histories, const Machine& machine) {
  std::vector<Chart> charts;
  if (histories.empty()) {
    return charts;
  }
  const double sms = machine.sms;
  const auto add = [&charts](Plot plot) {
    fit_axes(plot);
    charts.emplace_back(std::move(plot));
  };
  const auto made = [](const char* title, const char* note, const char* unit) {
    return Plot{.title = title, .note = note, .x = {.title = "time (µs)"}, .y = {.title = unit}};
  };
  const auto of_an_sm = [sms](std::uint64_t HistoryWindow::*member) {
    return [member, sms](const HistoryWindow& window, double cycles) {
      return cycles > 0 ? static_cast<double>(window.*member) / (cycles * sms) : 0;
    };
  };
  Plot misses = made("Misses over time", "Loads that missed, of all loads of the window, in the machine's own caches.",
                     "loads (%)");
  const auto rate = [](std::uint64_t HistoryWindow::*member) {
    return [member](const HistoryWindow& window, double /*cycles*/) {
      return window.accesses > 0 ? kPercent * static_cast<double>(window.*member) / static_cast<double>(window.accesses)
                                 : 0;
    };
  };
  add_lines(misses, histories, machine, "L1", rate(&HistoryWindow::l1_misses));
  add_lines(misses, histories, machine, "L2", rate(&HistoryWindow::l2_misses));
  add(std::move(misses));
  Plot outstanding =
      made("MSHRs in use over time", "Of an SM, on average over the window and all SMs.", "MSHRs in use of an SM");
  add_lines(outstanding, histories, machine, "", of_an_sm(&HistoryWindow::miss_cycles));
  add(std::move(outstanding));
  Plot bandwidth = made("Bandwidth over time", "Of the window's transfers; a service counts where it begins.",
                        "bandwidth taken (%)");
  add_lines(bandwidth, histories, machine, "L2", taken(&HistoryWindow::l2_bytes, machine.l2_bytes_per_second, machine));
  add_lines(bandwidth, histories, machine, "DRAM",
            taken(&HistoryWindow::dram_bytes, machine.dram_bytes_per_second, machine));
  add(std::move(bandwidth));
  Plot warps =
      made("Resident warps over time", "Of an SM, on average over the window and all SMs.", "resident warps of an SM");
  add_lines(warps, histories, machine, "", of_an_sm(&HistoryWindow::warp_cycles));
  add(std::move(warps));
  return charts;
}

}  // namespace rayreplay::report
