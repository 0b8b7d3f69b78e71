// Schedules from files: which segments run together, where and in which order (docs/schedule-files.md has the format).
//
// Contract: `read_schedule` gives the launch regrouped as the file says. The file is not trusted: it must be for this
// trace, launch, warp size and number of SMs; every event of the launch is in one segment, every segment at one place;
// segments begin with warp events; all SMs exist. With placement "warps" a warp must follow all warps that it waits
// for; with "units" a thread's segments lie in ascending rounds of one unit. So in every accepted schedule all
// warps run. Of the result's charges the withheld SMs alone are set; delays of warps are `start_delay`. O(events),
// memory linear in segments and places; nothing is allocated beyond what the launch can need. Errors: Input, with file,
// dataset and row, what was found and what is expected; Resource as trace::load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "capture/trace/trace.hpp"
#include "sim/launch/regrouped_launch.hpp"

namespace rayreplay::experiment {

inline constexpr std::string_view kScheduleSchema = "rayreplay.schedule/2";
inline constexpr std::string_view kPlacedByUnits = "units";
inline constexpr std::string_view kPlacedByWarps = "warps";

/// The launch and machine that the file must be for.
struct ScheduleTarget {
  std::uint32_t launch = 0;
  std::uint32_t warp_size = 32;
  std::uint32_t sms = 1;
};

[[nodiscard]] RegroupedLaunch read_schedule(const std::filesystem::path& path, const trace::Trace& trace,
                                            const ScheduleTarget& target);

}  // namespace rayreplay::experiment
