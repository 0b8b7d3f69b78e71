// Break-even: the shader cost from which a scheduler model pays.
//
// Contract: `plain` and `model` give cycles when every closest-hit call costs x instructions more (x < 0: fewer) than
// its average `cost_now`. Their ratio is evaluated in parallel on a grid of x: equal steps from −`cheaper` to 0, then
// geometric from 1 to 10^6. A ratio within 10^-9 of 1 counts as no gain. Sign changes between two grid points are
// missed.
//
// Smooth curves: the bracket of the first crossing is narrowed by regula falsi (Illinois) with bisection until its
// width is `within` of the call's cost, or 0.001 instructions. If the curve jumps there, the speed-ups at the ends are
// not near 1; they are part of the result.
//
// Noisy curves (`samples` > 0) cross 1 many times near a crossing: a narrow bracket would select one at random. The
// grid's bracket is timed at `samples` costs in equal ratio, then the part with sign changes, one step wider on either
// side, at as many again. `scatter` is the root mean square distance of a speed-up from the line between its
// neighbours. The result is an interval of timed costs: all points up to `from`, and all from `to` on, differ from 1 by
// more than the scatter, with the sign of their side. (If there are none: the ends of the grid.) Runs: the grid and 2 ·
// `samples` more. Deterministic. Source: rayreplay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rayreplay::experiment {

enum class BreakEvenKind : std::uint8_t {
  NotAsked,
  Always,   ///< faster than plain at every cost
  Never,    ///< not faster than plain at any cost
  Same,     ///< as fast as plain at every cost
  Above,    ///< faster from `instructions` on
  Below,    ///< faster up to `instructions`
  Several,  ///< changes more than once on the grid: `instructions` is the first
};

[[nodiscard]] const char* to_string(BreakEvenKind kind);  ///< "not-asked", "always", …

struct CostPoint {
  double instructions = 0;  ///< added to every closest-hit call; negative: removed
  double speed_up = 0;
};

struct BreakEven {
  BreakEvenKind kind = BreakEvenKind::NotAsked;
  double instructions = 0;  ///< as in CostPoint: middle of `from` and `to`
  double hit_cost = 0;      ///< the mean instructions of a closest-hit call then
  double within = 0;        ///< distance of `from` and `to` / `hit_cost`
  CostPoint from, to;       ///< timed costs around it
  bool sampled = false;     ///< of a noisy curve
  double scatter = 0;       ///< of the speed-up there
  /// A timed cost as evidence: one beside `instructions`; for Always and Never the one with the speed-up nearest to 1.
  double decided_at = 0;

  [[nodiscard]] bool solved() const {
    return kind == BreakEvenKind::Above || kind == BreakEvenKind::Below || kind == BreakEvenKind::Several;
  }
};

/// "pays when a closest-hit call costs more than 212 instructions (now 40)"
[[nodiscard]] std::string to_sentence(const BreakEven& result, double hit_cost_now);

inline constexpr double kMaxHitInstructions = 1e6;

struct CostCurves {
  std::function<double(double)> plain, model;  ///< called from several threads at once if `parallel`
  double cost_now = 0;
  double cheaper = 0;            ///< ≥ 0: instructions that every call can lose
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
