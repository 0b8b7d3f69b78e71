// The code of a stage, beside its description (sim/settings/stage.hpp).
//
// Contract: a stage's file ends with a static `StageRegistrar` of a `StageInfo` and the address of a `StageCode`;
// nothing else has to be edited. Other stages take the result through a function of the stage's header, which finds or
// makes it under the stage's key (Workbench::shared). `numbers` returns the metrics of several experiments that share
// all the stage depends on, except `StageInfo::varies`: one result each, in order. If it throws, the experiments are
// computed one by one, so that each gets its own outcome.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/experiment.hpp"
#include "sim/engine/stage_metrics.hpp"
#include "sim/settings/stage.hpp"

namespace rayreplay::experiment {

class Workbench;

struct StageCode {
  /// Memory of the result and of its computation, from the sizes of the input.
  std::uint64_t (*estimate_bytes)(const Experiment&) = nullptr;
  std::vector<Made> (*numbers)(Workbench&, std::span<const Experiment* const>) = nullptr;
  bool alone = false;            ///< `numbers` takes one experiment at a time
  bool of_accesses = false;      ///< also of memory traces, which have neither threads nor a scene
  bool gives_result = false;     ///< to other stages, under the stage's key; its numbers have a key of their own
  const char* stored = nullptr;  ///< kind of the result in the store; null: it is not stored
  /// For memory traces: all settings that the result depends on, as text. In the stage's hash it replaces the stage's
  /// keys and the hashes of all stages it takes except `input`.
  std::string (*reads_of_accesses)(const Settings&) = nullptr;
  /// False: of these settings the result does not depend on the key, which the stage reads otherwise. Null: it does.
  bool (*uses_key)(const Settings&, std::string_view key) = nullptr;
  /// Throws Usage for settings with which the stage cannot work; called before any stage works.
  void (*check)(const Experiment&) = nullptr;
  /// Sentences on legal settings whose answer may surprise. Null: none.
  std::vector<std::string> (*notes)(const Experiment&) = nullptr;
};

[[nodiscard]] inline const StageCode& code(Stage stage) {
  return *static_cast<const StageCode*>(code_of(stage));
}

}  // namespace rayreplay::experiment
