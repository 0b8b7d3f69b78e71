// Break-even: from what shader cost on does a scheduler model pay?
//
// Contract: `plain` and `model` give cycles when every closest-hit call costs x instructions more (x < 0: fewer) than
// the `cost_now` that it has on average. Their ratio is taken on a grid of x: equal steps from −`cheaper` to 0,
// then geometric from 1 to 10^6; in parallel. A ratio within 10^-9 of 1 counts as no gain. More changes between paying
// and not than the grid can tell apart are not seen.
//   Smooth curves: where the ratio first passes 1, the bracket is narrowed, by regula falsi (Illinois) in turn with
// bisection, until it is `within` of the call's cost wide, or 0.001 instructions. A curve that jumps there has ends
// whose speed-ups are not near 1: they are part of the result.
//   Noisy curves (`samples` > 0) pass 1 many times where they pass it at all: a narrow bracket would pick one of them.
// The grid's bracket is timed at `samples` costs in equal ratio, then the part of it with changes, one step wider on
// either side, at as many again. `scatter` is the root mean square distance of a speed-up there from the line between
// its neighbours. The result is an interval of timed costs: up to `from` and from `to` on, all are on their side of 1
// by more than the scatter. (Where none are: the ends of the grid.) The grid and 2 · `samples` more runs.
// Deterministic. Source: rayreplay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rayreplay::experiment {

enum class BreakEvenKind : std::uint8_t {
  NotAsked,
  Always,   ///< faster than plain at every cost
  Never,    ///< at none
  Same,     ///< as fast as plain at every cost
  Above,    ///< faster from `instructions` on
  Below,    ///< faster up to `instructions`
  Several,  ///< changes more than once on the grid: `instructions` is the first
};

[[nodiscard]] const char* to_string(BreakEvenKind kind);  ///< "not-asked", "always", …

struct CostPoint {
  double instructions = 0;  ///< added to every closest-hit call, negative: taken away
  double speed_up = 0;
};

struct BreakEven {
  BreakEvenKind kind = BreakEvenKind::NotAsked;
  double instructions = 0;  ///< as in CostPoint: middle of `from` and `to`
  double hit_cost = 0;      ///< the mean instructions of a closest-hit call then
  double within = 0;        ///< how far `from` and `to` are apart / `hit_cost`
  CostPoint from, to;       ///< timed costs; it lies between them
  bool sampled = false;     ///< of a noisy curve
  double scatter = 0;       ///< of the speed-up, then
  /// A timed cost that shows why: one beside `instructions`; of Always and Never where the speed-up is nearest to 1.
  double decided_at = 0;

  [[nodiscard]] bool solved() const {
    return kind == BreakEvenKind::Above || kind == BreakEvenKind::Below || kind == BreakEvenKind::Several;
  }
};

/// "pays when a closest-hit call costs more than 212 instructions (now 40)"
[[nodiscard]] std::string to_sentence(const BreakEven& result, double hit_cost_now);

inline constexpr double kMostHitInstructions = 1e6;

struct CostCurves {
  std::function<double(double)> plain, model;  ///< called from several threads at once if `parallel`
  double cost_now = 0;
  double cheaper = 0;            ///< ≥ 0: how many instructions every call can lose
  int steps_below = 8;           ///< values of the grid below 0
  std::uint32_t per_decade = 2;  ///< and above 1
  double within = 1e-3;
  std::uint32_t samples = 0;  ///< > 0: the model's curve is noisy
  bool parallel = true;
};

struct BreakEvenSolution {
  BreakEven result;
  std::vector<CostPoint> curve;  ///< by instructions: the grid, and samples
};

[[nodiscard]] BreakEvenSolution solve_break_even(const CostCurves& curves);

}  // namespace rayreplay::experiment
