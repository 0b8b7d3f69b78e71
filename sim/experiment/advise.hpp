// The hint advisor: which coherence hint would raise SIMT efficiency most under SER? (MODELS.md §7)
//
// Contract: evaluates candidate formulas of at most `bits` bits by cutting once, then sorting and replaying the whole
// launch for each: the user's own hints first; then the fields of the pending call one by one, by their low, high and
// hashed bits or quantised (advise_features.hpp); then combinations of two and of three of those that did best, most
// significant first. Greedy: what helps only in company is not found. The score is SIMT efficiency under `model` (a
// static one with a `hint` parameter), weighted by the configuration's costs where given. Sorted by score, ties by
// length of the formula, then text. Deterministic, whatever the number of workers. O(candidates · events), memory
// linear in segments. What efficiency does not see - divergence inside a shader, caches - the advisor does not see.
// Errors: Usage for a model without hints or that takes time, or one that names its hint; those of the hints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/experiment/resolve.hpp"

namespace rayreplay::experiment {

struct AdviseOptions {
  std::string model = "ser";
  std::uint32_t bits = 8;           ///< 1 to kMostHintBits
  std::uint32_t candidates = 64;    ///< at most so many are evaluated, the user's aside
  scheduler::HintSources hints;     ///< the user's own: evaluated whatever their bits
  scheduler::MachineFacts machine;  ///< for models whose scope is an SM
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< where regrouping and replays run; null: on the processor
};

struct Advice {
  std::string name;     ///< of a hint of the user's; else ""
  std::string formula;  ///< "" for shader id alone
  std::uint32_t bits = 0;
  double efficiency = 0;
  double weighted_efficiency = 0;  ///< equals efficiency without costs
  std::uint64_t warp_events = 0;
  double gain = 0;  ///< score / score of shader id alone − 1
};

struct AdviseResult {
  Resolved configuration;
  std::string model;  ///< resolved spec with hint=none
  std::uint32_t bits = 0;
  Advice baseline;  ///< shader id alone
  Advice plain;     ///< no reordering at all
  std::vector<Advice> ranking;
  std::uint64_t evaluated = 0;  ///< formulas that were sorted by and replayed
  std::uint64_t rejected = 0;   ///< candidates that gave values too large or no numbers, or one value for all
  double seconds = 0;           ///< wall clock of the search, the one figure that is not reproducible
};

[[nodiscard]] AdviseResult advise(const trace::Trace& trace, const Resolved& configuration,
                                  const AdviseOptions& options);

}  // namespace rayreplay::experiment
