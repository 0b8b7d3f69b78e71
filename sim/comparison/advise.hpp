// The hint advisor: the coherence hints that raise SIMT efficiency most under SER (MODELS.md §7).
//
// Contract: evaluates candidate formulas of at most `bits` bits. The launch is cut once, then sorted and replayed for
// each candidate: first the user's own hints; then the fields of the pending call one by one, by their low, high and
// hashed bits or quantised (advise_features.hpp); then combinations of two and three of the best, most significant
// first. The search is greedy: features that help only in combination are missed. The score is SIMT efficiency under
// `model` (a static one with a `hint` parameter), weighted by the configuration's costs if given; else by the issue
// slots of each call's own path if the launch has paths (path_score.hpp). By paths, remainders of fields that tell the
// path come before the other fields (path_features.hpp). Sorted by score, ties by length of the formula, then text.
// Deterministic for any number of workers. O(candidates · events), memory linear in segments. Effects outside of SIMT
// efficiency (caches; without paths also divergence inside a shader) are not considered. Errors: Usage for a timed
// model, one without hints, or one whose hint is set; those of the hints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/launch/resolve.hpp"

namespace rayreplay::experiment {

struct AdviseOptions {
  std::string model = "ser";
  std::uint32_t bits = 8;           ///< 1 to kMaxHintBits
  std::uint32_t candidates = 64;    ///< limit, without the user's own
  scheduler::HintSources hints;     ///< the user's own: evaluated with any number of bits
  scheduler::MachineFacts machine;  ///< for models whose scope is an SM
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< for regrouping and replays; null: the processor
};

struct Advice {
  std::string name;     ///< of a user's hint; else ""
  std::string formula;  ///< "" for shader id alone
  std::uint32_t bits = 0;
  double efficiency = 0;
  double weighted_efficiency = 0;  ///< equals efficiency without costs and paths
  std::uint64_t warp_events = 0;
  double gain = 0;  ///< score / score of shader id alone − 1
};

struct AdviseResult {
  Resolved configuration;
  std::string model;  ///< resolved spec with hint=none
  std::uint32_t bits = 0;
  bool by_path = false;  ///< weighted by paths
  Advice baseline;       ///< shader id alone
  Advice plain;          ///< without reordering
  std::vector<Advice> ranking;
  std::uint64_t evaluated = 0;  ///< formulas that were sorted by and replayed
  std::uint64_t rejected = 0;   ///< candidates with too large, non-numeric or all equal values
  double seconds = 0;           ///< wall clock of the search, the only result that is not reproducible
};

/// `order`: the launch's threads in warps.
[[nodiscard]] AdviseResult advise(const trace::Trace& trace, const Resolved& configuration,
                                  const scheduler::WarpAssignment& order, const AdviseOptions& options);

}  // namespace rayreplay::experiment
