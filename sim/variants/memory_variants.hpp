// Variants of one launch side by side in memory: scheduler models, packings and orders of nodes, through the stages
// that `rayreplay run` uses.
//
// Contract: a row for each combination of the models, packings and node orders given; the first one is the baseline. A
// row's metrics are those of `rayreplay run` with the row's settings. With `time` a row has a verdict on its memory
// time against the baseline's: `judge` (sim/comparison/sensitivity.hpp) with few points, because each takes up to two
// memory times. Of the numbers to vary (memory_numbers.hpp) those not known for sure decide the verdict (is_uncertain
// in sim/comparison/ranges.hpp), as in the fluid model; the others are varied alone, for their break-even. A bound has
// no warps: it gets metrics of the stage `model` alone, and no verdict. `runs` counts the different memory times beside
// the rows' own. All rows, and the ends of all ranges asked for, pass the checks of `rayreplay run` before anything is
// computed. Up to four rows run at a time, each of them parallel; points of a verdict run up to kMaxAtOnce at a time,
// without recording accesses. Deterministic. Errors: those of the stages, for the first row that fails; Usage for
// numbers that cannot be varied, or on which no row's memory time depends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/comparison/sensitivity.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/engine/experiment.hpp"
#include "sim/variants/memory_changes.hpp"
#include "sim/variants/memory_numbers.hpp"

namespace rayreplay::experiment {

/// Wanted results. `time` sets `schedule.time` to `memory`, unless the settings have that key.
struct MemoryOutputs {
  bool model = false, cache = false, time = false;
};

struct MemoryWanted {
  MemoryOutputs outputs{};
  std::vector<std::string> models{};                   ///< resolved specs; the first is the baseline's
  std::vector<std::string> packings{}, node_orders{};  ///< resolved specs, at least one of each
  bool break_even = true;                              ///< with outputs.time
  std::vector<AskedNumber> numbers{};                  ///< to vary; empty: the usual ones
  GivenParameters given_parameters{};                  ///< of the models
};

struct MemoryRow {
  std::string model{}, packing{}, node_order{};
  bool bound = false;
  Metrics metrics{};
  double speed_up = 1;                    ///< in memory time; the baseline's cycles / this one's
  double model_speed_up = 1;              ///< likewise in the fluid model
  Verdict verdict{};                      ///< NotAsked of the baseline, of bounds, without time or break_even
  Verdict explored{};                     ///< of the numbers that are known: only its `effects` have a meaning
  std::vector<Quantity> numbers{};        ///< with time: numbers_in_use; none for a bound
  std::vector<std::string> not_varied{};  ///< uncertain numbers that could decide the verdict, without a range
};

struct MemoryResult {
  MemoryOutputs outputs;
  machine::Machine machine;
  std::uint64_t rays = 0;
  std::vector<MemoryRow> rows;
  std::uint64_t runs = 0;
  std::vector<std::string> shader_notes;  ///< shader_access_notes (sim/engine/shader_accesses.hpp) of the first row
  std::vector<std::string> notes;         ///< on ranges that differ from those asked for; what packings leave out
};

/// A launch, and what its variants are computed with.
struct VariantBench {
  std::function<Experiment(const Settings& complete)> open;
  std::function<Workbench(bool alone)> bench;  ///< alone: for several at once: no accelerator, a heartbeat as progress
  const Settings& asked;                       ///< of the launch, not completed
  Progress* progress = nullptr;
};

/// The settings of a row, completed.
[[nodiscard]] Settings settings_of(const Settings& asked, const MemoryOutputs& outputs, const MemoryRow& row);

[[nodiscard]] MemoryResult compare_memory(const VariantBench& bench, const MemoryWanted& wanted);

}  // namespace rayreplay::experiment
