// What the stages of an experiment take of memory, before they are computed. Internal to this room.
//
// Contract: `estimate_bytes` comes from the sizes of the input (bytes, primitives, threads, rays, events, records): a
// stage's result and what it works with. Inputs, structures, packings and replays are met within a factor of two or so.
// Streams, caches and traversals depend on how many accesses a ray makes, which is known only when they are made: in
// deep or overlapping scenes a hundred times as many as assumed. `forecast_stages` lists the stages that the outputs
// need, in the order of Stage, and which of their results are there. What limits memory does not use estimates of the
// latter three (stage_maker.cpp).
#pragma once

#include <array>
#include <vector>

#include "sim/experiment/stages/stage_maker.hpp"

namespace rayreplay::experiment {

/// The stages that give numbers. Their names are the words of the key `outputs`.
inline constexpr std::array kLeafStages = {Stage::Structure, Stage::Simt, Stage::Model, Stage::Traversal, Stage::Cache};

/// Under which a stage's numbers are kept.
[[nodiscard]] const Key& leaf_key(Stage stage, const Experiment& experiment);

[[nodiscard]] std::uint64_t estimate_bytes(Stage stage, const Experiment& experiment);

[[nodiscard]] std::vector<StageForecast> forecast_stages(const Experiment& experiment, const KeptResults& kept,
                                                         const Store* store);

}  // namespace rayreplay::experiment
