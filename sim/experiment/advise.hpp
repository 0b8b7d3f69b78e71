// The hint advisor: which coherence hint would raise SIMT efficiency most under SER? (MODELS.md §7)
//
// Contract: evaluates candidate formulas of at most `bits` bits (fields of the pending event, their low, high and
// hashed bits, quantised distances, and greedy combinations of the best) by cutting once, then sorting and replaying
// the whole launch for each. The score is weighted SIMT efficiency under `model` (a static one with a `hint`
// parameter), weighted by the configuration's costs where given. Results are sorted by score, ties by length of the
// formula, then text. Deterministic. O(candidates · events).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler-models/regrouping/hints.hpp"
#include "sim/experiment/configuration.hpp"

namespace rayreplay::experiment {

struct AdviseOptions {
  std::string model = "ser";
  std::uint32_t bits = 8;
  std::uint32_t candidates = 64;  ///< at most so many are evaluated
  std::vector<std::string> more;  ///< the user's own formulas, evaluated first
  scheduler::HintSources hints;   ///< the user's named hints are candidates too
  Progress* progress = nullptr;
};

struct Advice {
  std::string formula;  ///< "" for shader id alone
  std::uint32_t bits = 0;
  double efficiency = 0;
  double weighted_efficiency = 0;
  std::uint64_t warp_events = 0;
  double gain = 0;  ///< score / score of shader id alone − 1
};

struct AdviseResult {
  Resolved configuration;
  std::string model;  ///< resolved spec with hint=none
  Advice baseline;    ///< shader id alone
  Advice plain;       ///< no reordering at all
  std::vector<Advice> ranking;
  std::uint64_t evaluated = 0;
  std::uint64_t rejected = 0;  ///< formulas that gave values too large, or one value for all
  double seconds = 0;          ///< wall clock, the one figure that is not reproducible
};

[[nodiscard]] AdviseResult advise(const trace::Trace& trace, const Resolved& configuration,
                                  const AdviseOptions& options);

}  // namespace rayreplay::experiment
