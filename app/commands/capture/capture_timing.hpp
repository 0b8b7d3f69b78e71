// Output of `capture --record off`: each launch's time on the device, from spools without events.
//
// Contract: `read_timings` reads the launch records, in order of number; unreadable spools are listed in `faults`.
// Errors: none but those of memory; spools are untrusted, and damage is skipped. O(bytes of the spools).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/capture/capture_end.hpp"
#include "app/report/export/table.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::app {

struct LaunchTiming {
  std::uint64_t process = 0;  ///< number of the spool
  spool::Launch launch;       ///< without tables
};

struct Timings {
  CaptureFacts facts;  ///< from the spools alone
  std::vector<LaunchTiming> launches;
  std::vector<std::string> notes, faults;
  std::string device;                 ///< name and driver of the last one
  std::vector<std::string> replaced;  ///< modules of --shaders that were asked for and could be read, by hash
  std::optional<std::vector<std::string>> not_asked_for;  ///< the others; none without --shaders
};

[[nodiscard]] Timings read_timings(const std::vector<std::filesystem::path>& spools);

/// One row for each launch; a launch without a measured time has an empty cell.
[[nodiscard]] output::Table timing_table(const Timings& timings);

/// The table, or the JSON document "rayreplay.timing/1".
void print_timings(const Timings& timings, output::Format format);

}  // namespace rayreplay::app
