// The hint advisor: the coherence hints that raise SIMT efficiency most under SER (MODELS.md §7).
//
// Contract: evaluates candidate formulas of at most `bits` bits. The launch is cut once, then sorted and replayed for
// each candidate: first the user's own hints; then the fields of the pending call one by one, by their low, high and
// hashed bits or quantised (advise_features.hpp); then combinations of two and three of the best, most significant
// first. The search is greedy: features that help only in combination are missed. The score is SIMT efficiency under
// `model` (a static one with a `hint` parameter), weighted by the configuration's costs if given; else by the issue
// slots of each call's own path if the launch has paths (path_score.hpp). By paths, remainders of fields that tell the
// path come before the other fields (path_features.hpp).
//
// With `addresses` and recorded accesses of shaders the score is time instead, in cycles of an SM:
//
//   cycles = issue slots ÷ issue_per_cycle + transactions · transaction_cycles
//
// Issue slots are Σ over warp events of what they issue: by the costs given, else by paths, else by the instructions of
// each call (machine::make_costs); transactions are those of address_score.hpp. Nothing overlaps, and caches hold
// nothing: the sum weighs the two against each other, it is no forecast. Steps and remainders of fields that tell which
// memory a call touches are then candidates, too (address_features.hpp).
//
// `gain` is the score over that of shader id alone, − 1; of cycles the other way round. Sorted by score, ties by fewer
// bits, then length of the formula, then text. Deterministic for any number of workers. O(candidates · events), with
// addresses also · touched sectors; memory linear in segments, with addresses in events and accesses. Not counted:
// caches; without paths, divergence inside a shader. Errors: Usage for a timed model, one without hints, or one whose
// hint is set; those of the hints and of call_addresses.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/comparison/address_score.hpp"
#include "sim/comparison/call_addresses.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/machine/origin.hpp"

namespace rayreplay::experiment {

/// A gain below it is noise: partly filled warps at the ends of rounds decide it.
inline constexpr double kLeastGain = 0.005;

inline constexpr double kMostTransactionCycles = 1e6;
/// Usage unless it is from 0 to kMostTransactionCycles.
void check_transaction_cycles(double cycles);

/// Costs of issue slots and transactions, with their origins.
struct AddressCosts {
  AddressUnits units;
  double issue_per_cycle = 4;  ///< issue slots of an SM, machine.issue_per_cycle
  machine::Origin issue_origin = machine::Origin::Assumed;
  double transaction_cycles = 1;  ///< of an SM's load unit; at most kMostTransactionCycles
  machine::Origin transaction_origin = machine::Origin::Assumed;
};

struct AdviseOptions {
  std::string model = "ser";
  std::uint32_t bits = 8;                 ///< 1 to kMaxHintBits
  std::uint32_t candidates = 64;          ///< limit, without the user's own
  scheduler::HintSources hints;           ///< the user's own: evaluated with any number of bits
  scheduler::MachineFacts machine;        ///< for models whose scope is an SM
  std::optional<AddressCosts> addresses;  ///< empty: accesses of shaders are left out
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
  double gain = 0;  ///< over shader id alone
  // With addresses; else 0.
  AddressCounts addresses;
  double issue_cycles = 0, transaction_cycles = 0;

  [[nodiscard]] double cycles() const {
    return issue_cycles + transaction_cycles;
  }
};

/// The part of the score that a hint changes most.
enum class RestsOn : std::uint8_t { Calls, Instructions, Transactions };
[[nodiscard]] const char* to_string(RestsOn part);

struct AdviseResult {
  Resolved configuration;
  std::string model;  ///< resolved spec with hint=none
  std::uint32_t bits = 0;
  bool by_path = false;                   ///< weighted by paths
  bool by_address = false;                ///< ranked by cycles
  AddressCosts address_costs;             ///< with addresses
  std::vector<std::string> cost_sources;  ///< with addresses: where the issue slots come from, each once
  std::uint64_t rays = 0;                 ///< of the launch
  Advice baseline;                        ///< shader id alone
  Advice plain;                           ///< without reordering
  std::vector<Advice> ranking;
  std::uint64_t evaluated = 0;  ///< formulas that were sorted by and replayed
  std::uint64_t rejected = 0;   ///< candidates with too large, non-numeric or all equal values
  double seconds = 0;           ///< wall clock of the search, the only result that is not reproducible

  /// The best hint; null if none gains kLeastGain.
  [[nodiscard]] const Advice* best() const {
    return ranking.empty() || ranking.front().gain < kLeastGain ? nullptr : &ranking.front();
  }
  /// The part of its cycles in which it beats shader id alone most. Without addresses: Calls, or Instructions where
  /// calls have costs.
  [[nodiscard]] RestsOn rests_on(const Advice& advice) const;
  /// "none", "costs", "paths"; with addresses "calls, addresses", "costs, addresses", "paths, addresses".
  [[nodiscard]] std::string weights() const;
};

/// `order`: the launch's threads in warps.
[[nodiscard]] AdviseResult advise(const trace::Trace& trace, const Resolved& configuration,
                                  const scheduler::WarpAssignment& order, const AdviseOptions& options);

}  // namespace rayreplay::experiment
