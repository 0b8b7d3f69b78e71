#include "sim/experiment/break_even.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

namespace rayreplay::experiment {
namespace {

constexpr double kSame = 1e-9;
constexpr double kFinest = 1e-3;  // instructions
constexpr int kMostSteps = 64;

std::vector<double> grid(double cheaper, int steps_below, std::uint32_t per_decade) {
  std::vector<double> values;
  for (int i = steps_below; i > 0 && cheaper > 0; --i) {
    values.push_back(-cheaper * i / steps_below);
  }
  values.push_back(0);
  const auto last = static_cast<std::uint32_t>(std::lround(std::log10(kMostHitInstructions))) * per_decade;
  for (std::uint32_t i = 0; i <= last; ++i) {
    values.push_back(std::pow(10.0, static_cast<double>(i) / per_decade));
  }
  return values;
}

bool pays(double speed_up) {
  return speed_up > 1 + kSame;
}

struct Bracket {
  double low = 0, high = 0;
  double low_gain = 0, high_gain = 0;  ///< of different signs
};

double gain_at(const CostCurves& curves, double x) {
  const double plain = curves.plain(x), model = curves.model(x);
  return plain == model ? 0 : plain / model - 1;  // also where a launch without events takes no time at all
}

void shrink(Bracket& bracket, const CostCurves& curves) {
  // Illinois halves the value that stays twice in a row, so that both ends move; every third step bisects, so that the
  // bracket shrinks however crooked the curve.
  const double now = curves.cost_now;
  int stayed = 0;
  double low_weight = bracket.low_gain, high_weight = bracket.high_gain;
  for (int step = 0; step < kMostSteps; ++step) {
    const double wanted = std::max(kFinest, curves.within * (now + bracket.high));
    if (bracket.high - bracket.low <= wanted) {
      return;
    }
    double x = bracket.low + (bracket.high - bracket.low) * low_weight / (low_weight - high_weight);
    const double margin = wanted / 4;
    if (step % 3 == 2 || !(x > bracket.low + margin && x < bracket.high - margin)) {
      x = now + bracket.low > 1 ? std::sqrt((now + bracket.low) * (now + bracket.high)) - now
                                : (bracket.low + bracket.high) / 2;
    }
    const double gain = gain_at(curves, x);
    if (pays(gain + 1) == pays(bracket.low_gain + 1)) {
      bracket.low = x;
      low_weight = bracket.low_gain = gain;
      high_weight = stayed > 0 ? high_weight / 2 : high_weight;
      stayed = std::max(stayed, 0) + 1;
    } else {
      bracket.high = x;
      high_weight = bracket.high_gain = gain;
      low_weight = stayed < 0 ? low_weight / 2 : low_weight;
      stayed = std::min(stayed, 0) - 1;
    }
  }
}

}  // namespace

const char* to_string(BreakEvenKind kind) {
  constexpr std::array kNames = {"not-asked", "always", "never", "same", "above", "below", "several"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string to_sentence(const BreakEven& result, double hit_cost_now) {
  const std::string now = fmt::format("(now {:.0f})", hit_cost_now);
  switch (result.kind) {
    case BreakEvenKind::NotAsked:
      return "";
    case BreakEvenKind::Always:
      return "pays whatever a closest-hit call costs, from a few instructions to a million " + now;
    case BreakEvenKind::Never:
      return "does not pay whatever a closest-hit call costs, from a few instructions to a million " + now;
    case BreakEvenKind::Same:
      return "takes as long as plain, whatever a closest-hit call costs";
    case BreakEvenKind::Above:
      return fmt::format("pays when a closest-hit call costs more than {:.0f} instructions {}", result.hit_cost, now);
    case BreakEvenKind::Below:
      return fmt::format("pays while a closest-hit call costs less than {:.0f} instructions {}", result.hit_cost, now);
    case BreakEvenKind::Several:
      return fmt::format("changes more than once between paying and not, first at {:.0f} instructions {}",
                         result.hit_cost, now);
  }
  return "";
}

BreakEvenSolution solve_break_even(const CostCurves& curves) {
  const std::vector<double> values = grid(curves.cheaper, curves.steps_below, curves.per_decade);
  BreakEvenSolution solution;
  solution.curve.resize(values.size());
  const auto evaluate = [&](std::size_t i) { solution.curve[i] = {values[i], gain_at(curves, values[i]) + 1}; };
  if (curves.parallel) {
    tbb::parallel_for(std::size_t{0}, values.size(), evaluate);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      evaluate(i);
    }
  }
  std::size_t crossings = 0, first = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (pays(solution.curve[i].speed_up) != pays(solution.curve[i - 1].speed_up)) {
      first = crossings == 0 ? i : first;
      ++crossings;
    }
  }
  BreakEven& result = solution.result;
  const bool starts_paying = pays(solution.curve.front().speed_up);
  if (crossings == 0) {
    const bool same = std::all_of(solution.curve.begin(), solution.curve.end(),
                                  [](const CostPoint& point) { return std::abs(point.speed_up - 1) <= kSame; });
    result.kind = same ? BreakEvenKind::Same : starts_paying ? BreakEvenKind::Always : BreakEvenKind::Never;
    return solution;
  }
  result.kind = crossings > 1 ? BreakEvenKind::Several : starts_paying ? BreakEvenKind::Below : BreakEvenKind::Above;
  Bracket bracket{values[first - 1], values[first], solution.curve[first - 1].speed_up - 1,
                  solution.curve[first].speed_up - 1};
  shrink(bracket, curves);
  result.instructions = (bracket.low + bracket.high) / 2;
  result.hit_cost = curves.cost_now + result.instructions;
  result.within = (bracket.high - bracket.low) / std::max(result.hit_cost, kFinest);
  return solution;
}

}  // namespace rayreplay::experiment
