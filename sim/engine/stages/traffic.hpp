// Stage "traffic": the names of its metrics.
//
// Contract: three metrics for each kind of data that a launch's accesses have; a kind without accesses has none. `L2`
// and `Dram` are loads that the L2 and DRAM served in the interleaving (sim/machine/interleave.hpp): over kinds they
// sum to `l2_hits` and `dram` of its result. `Bytes` are those of the sectors that loads and stores touch.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/memory/data_kind.hpp"

namespace rayreplay::experiment {

enum class TrafficPart : std::uint8_t { L2, Dram, Bytes };

[[nodiscard]] std::span<const memory::DataKind> traffic_kinds();
/// The metric's name: "traffic_shader_record_l2"
[[nodiscard]] std::string traffic_metric(memory::DataKind kind, TrafficPart part);

}  // namespace rayreplay::experiment
