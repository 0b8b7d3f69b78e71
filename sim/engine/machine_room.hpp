// Warps, registers, partitions and rates of a machine together: what contradicts itself, and what deserves a note.
//
// Contract: pure functions of complete settings and the launch's warp size. An SM without registers for one warp, more
// warps at once than an SM of the machine holds, and a scheduler model that withholds all SMs are errors of kind Usage:
// no such machine runs. Everything else
// is a legal question; where the answer may surprise, `machine_notes` has a sentence for it (docs/machines.md,
// "Contradictions and odd machines"). The models' code accepts any of it: points of a search may come to such machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

/// Of the fluid model, which does not read schedule.resident_warps.
void require_registers(const Settings& complete, std::uint32_t warp_size);
/// Of the interleaving: schedule.resident_warps, where given, takes the place of the registers.
void require_warps_fit(const Settings& complete, std::uint32_t warp_size);

/// An SM remains that runs warps while the scheduler model exchanges threads.
void require_shading_sms(const Settings& complete);

/// Of the interleaving: notes on warps; with memory time also on partitions, bandwidths and the ray-tracing unit.
[[nodiscard]] std::vector<std::string> machine_notes(const Settings& complete, std::uint32_t warp_size);

}  // namespace rayreplay::experiment
