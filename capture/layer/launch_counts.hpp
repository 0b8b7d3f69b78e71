// The counts of a launch: the counters of its pipeline's modules before and after it, copied by the
// application's command buffer; their difference goes to the spool.
//
// Contract: begin_counts() records the first copy, or notes why there is none; end_counts() the second. spool_counts()
// runs on the host when the device has finished the launch. Barriers are the caller's.
#pragma once

#include <cstdint>

namespace rayreplay::layer {

struct CommandRecording;
class ModuleCounters;
struct LaunchOperation;

void begin_counts(CommandRecording& recording, LaunchOperation& operation);
void end_counts(CommandRecording& recording, const LaunchOperation& operation);
void spool_counts(const LaunchOperation& operation, std::uint32_t launch);

/// Spools all that counters in mapped memory counted since they were zero, as a block without a launch.
void spool_totals(std::uint32_t device, std::uint32_t pipeline, const ModuleCounters& counters);

}  // namespace rayreplay::layer
