// Registers of a thread, from what the driver says of pipelines.
//
// Contract: only two statistics are taken, whose meaning is known: "Register Count" (NVIDIA's driver) and "VGPRs"
// (Mesa's RADV: vector registers of a subgroup, one in each lane). Others are never taken: "SGPRs" are registers of a
// whole subgroup; Intel's "GRF registers" and "Max live registers" (Mesa's ANV) are registers of a hardware thread, of
// 32 or 64 bytes for all its lanes, whose number does not depend on the shader on most GPUs; lavapipe has no such
// statistics. A pipeline is assumed to run all its shaders with one number of registers, that of the executable with
// the most (docs/assumptions.md). A statistic of 0, or above kMostRegisters, is ignored. O(statistics).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

inline constexpr std::uint32_t kMostRegisters = 1024;  ///< of a thread

/// Whether the statistic is a thread's registers.
[[nodiscard]] bool counts_registers(const Statistic& statistic);

struct PipelineRegisters {
  std::uint32_t registers = 0;
  std::string statistic;  ///< its name
};

/// None: no executable has such a statistic.
[[nodiscard]] std::optional<PipelineRegisters> registers_of(const PipelineFacts& pipeline);

/// Of the pipeline with this number; none also for kNone, and where there are no facts of it.
[[nodiscard]] std::optional<PipelineRegisters> registers_of(const std::vector<PipelineFacts>& facts,
                                                            std::uint32_t pipeline);

}  // namespace rayreplay::trace
