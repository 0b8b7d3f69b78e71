// Histograms of the instructions, and of the basic blocks, that each thread of a launch executed: by pixel and frame
// where a launch renders a frame with a thread for each pixel.
//
// Contract: a thread's number is the sum over its calls with a path (thread_instructions.hpp). Limits of ranges are
// powers of two, low ≤ number < high; 0 is a range of its own. Threads without a path are counted apart. Launches
// without paths are left out. The charts show the first kMostHistograms launches. O(events + threads).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "capture/profile/path_profile.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

inline constexpr std::size_t kMostHistograms = 8;

/// Threads of a launch by their number of executions.
struct ThreadRange {
  std::uint64_t low = 0, high = 0;  ///< 0 and 1: nothing executed; high 0: 2^64
  std::uint64_t threads = 0;
};
struct LaunchHistogram {
  std::uint32_t launch = 0, frame = 0;
  bool blocks = false;              ///< of basic blocks; else of instructions
  std::vector<ThreadRange> ranges;  ///< ascending, from the first to the last that has threads
  std::uint64_t threads = 0;        ///< with a path
  std::uint64_t unknown = 0;        ///< threads without one
  double mean = 0;                  ///< of the threads with a path
  std::uint64_t most = 0;
};

/// By launch: of instructions, then of blocks. `file` stands for the trace in messages.
[[nodiscard]] std::vector<LaunchHistogram> pixel_histograms(const trace::Trace& trace,
                                                            const profile::PathProfile& paths, const std::string& file);

/// A row for each range that has threads, and one without limits for those without a path.
[[nodiscard]] output::Table pixel_table(const std::vector<LaunchHistogram>& histograms);
[[nodiscard]] std::vector<pictures::Chart> pixel_charts(const std::vector<LaunchHistogram>& histograms);

}  // namespace rayreplay::report
