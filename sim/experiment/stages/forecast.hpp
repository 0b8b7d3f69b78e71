// What the stages of one experiment would cost. Internal to this room.
//
// Contract: those that its outputs need, in the order of Stage: what is there already costs nothing, and neither does
// what only such results would take. Seconds and bytes come from counts of the input and rates that were measured once
// (forecast.cpp says where): good for an order of magnitude, the same on every computer.
#pragma once

#include <array>
#include <vector>

#include "sim/experiment/stages/stage_maker.hpp"

namespace rayreplay::experiment {

/// The stages that give numbers. Their names are the words of the key `outputs`.
inline constexpr std::array kLeafStages = {Stage::Structure, Stage::Simt, Stage::Model, Stage::Traversal, Stage::Cache};

/// Under which a stage's numbers are kept.
[[nodiscard]] const Key& leaf_key(Stage stage, const Experiment& experiment);

/// Of the stream of an experiment's launch or memory trace: an estimate, rather too many.
[[nodiscard]] std::uint64_t likely_transactions(const Experiment& experiment);

[[nodiscard]] std::vector<StageForecast> forecast_stages(const Experiment& experiment, const KeptResults& kept,
                                                         const Store* store);

}  // namespace rayreplay::experiment
