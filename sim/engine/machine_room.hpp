// Errors and notes on a machine's warps, registers, SMs, partitions and rates as a whole (docs/machines.md,
// "Contradictions and odd machines").
//
// Contract: pure functions of complete settings and the launch's warp size. Three contradictions are errors of kind
// Usage: no registers for one warp, more warps at once than an SM holds, and a scheduler model that withholds all SMs.
// `machine_notes` has a sentence for each legal machine whose answer may surprise. The models' code itself accepts all
// of these machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

/// For the fluid model, which does not read schedule.resident_warps.
void require_registers(const Settings& complete, std::uint32_t warp_size);
/// For the interleaving: schedule.resident_warps, if given, takes the place of the registers.
void require_warps_fit(const Settings& complete, std::uint32_t warp_size);

/// Usage unless some SM runs warps while the scheduler model exchanges threads.
void require_shading_sms(const Settings& complete);

/// For the interleaving: notes on warps; with memory time also on partitions, bandwidths and the ray-tracing unit.
[[nodiscard]] std::vector<std::string> machine_notes(const Settings& complete, std::uint32_t warp_size);

}  // namespace rayreplay::experiment
