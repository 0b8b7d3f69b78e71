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

/// A stage's result, and what it takes beside this and those of others: estimates.
[[nodiscard]] std::uint64_t likely_result_bytes(Stage stage, const Experiment& experiment);
[[nodiscard]] std::uint64_t likely_working_bytes(Stage stage, const Experiment& experiment);
/// What is there beside a stream of so many transactions while a launch is recorded: its share of warps that are
/// resident or made ahead, and what their source holds before it is coalesced (`held`, or the usual).
[[nodiscard]] std::uint64_t recording_bytes(const Experiment& experiment, std::uint64_t transactions,
                                            std::uint64_t held = 0);
/// What is there beside it while it goes through caches, but for what their passes remember of lines. `below`: bytes of
/// what comes to L2s, which is there when the L1s are done.
[[nodiscard]] std::uint64_t caching_bytes(std::uint64_t transactions, std::uint32_t sms, std::uint64_t below);

[[nodiscard]] std::vector<StageForecast> forecast_stages(const Experiment& experiment, const KeptResults& kept,
                                                         const Store* store);

}  // namespace rayreplay::experiment
