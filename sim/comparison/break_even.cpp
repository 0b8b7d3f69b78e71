#include "sim/comparison/break_even.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

namespace rayreplay::experiment {
namespace {

constexpr double kSame = 1e-9;
constexpr double kFinest = 1e-3;  // instructions
constexpr int kMaxSteps = 64;

std::vector<double> grid(double cheaper, int steps_below, std::uint32_t per_decade) {
  std::vector<double> values;
  for (int i = steps_below; i > 0 && cheaper > 0; --i) {
    values.push_back(-cheaper * i / steps_below);
  }
  values.push_back(0);
  const auto last = static_cast<std::uint32_t>(std::lround(std::log10(kMaxHitInstructions))) * per_decade;
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
  double low_gain = 0, high_gain = 0;  ///< of opposite signs
};

double gain_at(const CostCurves& curves, double x) {
  const double plain = curves.plain(x), model = curves.model(x);
  return plain == model ? 0 : plain / model - 1;  // also for a launch without events, which takes no time
}

void shrink(Bracket& bracket, const CostCurves& curves) {
  // Illinois halves the value of an end that stays twice in a row, so that both ends move. Every third step bisects, so
  // that the bracket shrinks for any curve.
  const double now = curves.cost_now;
  int stayed = 0;
  double low_weight = bracket.low_gain, high_weight = bracket.high_gain;
  for (int step = 0; step < kMaxSteps; ++step) {
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

std::vector<CostPoint> evaluate(const CostCurves& curves, const std::vector<double>& values) {
  std::vector<CostPoint> points(values.size());
  const auto at = [&](std::size_t i) { points[i] = {values[i], gain_at(curves, values[i]) + 1}; };
  if (curves.parallel) {
    tbb::parallel_for(std::size_t{0}, values.size(), at);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      at(i);
    }
  }
  return points;
}

bool by_instructions(const CostPoint& a, const CostPoint& b) {
  return a.instructions < b.instructions;
}

/// Sign changes: the second point of each pair.
std::vector<std::size_t> changes_in(const std::vector<CostPoint>& points) {
  std::vector<std::size_t> changes;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (pays(points[i].speed_up) != pays(points[i - 1].speed_up)) {
      changes.push_back(i);
    }
  }
  return changes;
}

/// Noisy curves. Both passes are logarithmic in a call's cost, or linear near cost 0.
class Sampler {
 public:
  /// Times samples between two points on opposite sides of a speed-up of 1.
  Sampler(const CostCurves& curves, const CostPoint& low, const CostPoint& high)
      : curves_(curves), geometric_(curves.cost_now + low.instructions >= 1), points_{low, high} {
    const double lowest = scale(low.instructions), highest = scale(high.instructions);
    const double step = add(lowest, highest);
    const std::vector<std::size_t> changes = changes_in(points_);
    const double from = std::max(lowest, scale(points_[changes.front() - 1].instructions) - step);
    const double to = std::min(highest, scale(points_[changes.back()].instructions) + step);
    add(from, to);
    measure_scatter(from, to);
  }

  [[nodiscard]] const std::vector<CostPoint>& points() const {
    return points_;
  }
  [[nodiscard]] double scatter() const {
    return scatter_;
  }
  /// The middle of a and b on the scale of the samples (logarithmic or linear).
  [[nodiscard]] double middle(double a, double b) const {
    return unscale((scale(a) + scale(b)) / 2);
  }

 private:
  [[nodiscard]] double scale(double x) const {
    return geometric_ ? std::log(curves_.cost_now + x) : x;
  }
  [[nodiscard]] double unscale(double place) const {
    return geometric_ ? std::exp(place) - curves_.cost_now : place;
  }

  double add(double low, double high) {
    std::vector<double> values;
    const double step = (high - low) / (curves_.samples + 1);
    for (std::uint32_t i = 1; i <= curves_.samples; ++i) {
      const double place = low + i * step;
      // The second pass may repeat a sample of the first.
      if (std::none_of(points_.begin(), points_.end(), [&](const CostPoint& point) {
            return std::abs(scale(point.instructions) - place) < kFinest * step;
          })) {
        values.push_back(unscale(place));
      }
    }
    const std::vector<CostPoint> more = evaluate(curves_, values);
    points_.insert(points_.end(), more.begin(), more.end());
    std::sort(points_.begin(), points_.end(), by_instructions);
    return step;
  }

  void measure_scatter(double from, double to) {
    double sum = 0;
    int count = 0;
    for (std::size_t i = 1; i + 1 < points_.size(); ++i) {
      const CostPoint &before = points_[i - 1], &point = points_[i], &after = points_[i + 1];
      const double place = scale(point.instructions);
      if (place > from && place < to) {
        const double part =
            (place - scale(before.instructions)) / (scale(after.instructions) - scale(before.instructions));
        const double off = point.speed_up - (before.speed_up + part * (after.speed_up - before.speed_up));
        sum += off * off;
        ++count;
      }
    }
    scatter_ = count > 0 ? std::sqrt(sum / count) : 0;
  }

  const CostCurves& curves_;
  bool geometric_;
  std::vector<CostPoint> points_;
  double scatter_ = 0;
};

/// Sets `from` to the last point of the first run of points that differ from 1 by more than the scatter, with the sign
/// of the lower end; `to` likewise from the upper end. Without such points: the ends.
void find_ends(const std::vector<CostPoint>& points, double scatter, BreakEven& result) {
  const auto clear = [&](const CostPoint& point, const CostPoint& end) {
    return std::abs(point.speed_up - 1) > scatter && pays(point.speed_up) == pays(end.speed_up);
  };
  result.from = points.front();
  for (auto point = points.begin(); point != points.end() && clear(*point, points.front()); ++point) {
    result.from = *point;
  }
  result.to = points.back();
  for (auto point = points.rbegin(); point != points.rend() && clear(*point, points.back()); ++point) {
    result.to = *point;
  }
}

}  // namespace

const char* to_string(BreakEvenKind kind) {
  constexpr std::array kNames = {"not-asked", "always", "never", "same", "above", "below", "several"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string to_sentence(const BreakEven& result, double hit_cost_now) {
  if (result.sampled) {
    const std::string now =
        fmt::format("(now {:.0f}; the speed-up scatters by {:.0f} %)", hit_cost_now, 100 * result.scatter);
    const double from = hit_cost_now + result.from.instructions, to = hit_cost_now + result.to.instructions;
    const std::string where =
        fmt::format("somewhere between {:.0f} and {:.0f} instructions of a closest-hit call {}", from, to, now);
    switch (result.kind) {
      case BreakEvenKind::Above:
        return "begins to pay " + where;
      case BreakEvenKind::Below:
        return "ceases to pay " + where;
      default:
        return "changes more than once between paying and not, first " + where;
    }
  }
  const std::string now = fmt::format("(now {:.0f})", hit_cost_now);
  // A curve that jumps over 1 has no cost with equal times.
  constexpr double kJump = 0.01;
  const bool jumps =
      result.solved() && (std::abs(result.from.speed_up - 1) > kJump || std::abs(result.to.speed_up - 1) > kJump);
  const std::string jump =
      jumps ? fmt::format("; the speed-up jumps there from {:.3f} to {:.3f}", result.from.speed_up, result.to.speed_up)
            : std::string();
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
      return fmt::format("pays when a closest-hit call costs more than {:.0f} instructions {}{}", result.hit_cost, now,
                         jump);
    case BreakEvenKind::Below:
      return fmt::format("pays while a closest-hit call costs less than {:.0f} instructions {}{}", result.hit_cost, now,
                         jump);
    case BreakEvenKind::Several:
      return fmt::format("changes more than once between paying and not, first at {:.0f} instructions {}{}",
                         result.hit_cost, now, jump);
  }
  return "";
}

BreakEvenSolution solve_break_even(const CostCurves& curves) {
  const std::vector<double> values = grid(curves.cheaper, curves.steps_below, curves.per_decade);
  BreakEvenSolution solution;
  solution.curve = evaluate(curves, values);
  const std::vector<std::size_t> changes = changes_in(solution.curve);
  BreakEven& result = solution.result;
  const bool starts_paying = pays(solution.curve.front().speed_up);
  if (changes.empty()) {
    const auto distance = [](const CostPoint& point) { return std::abs(point.speed_up - 1); };
    const bool same = std::all_of(solution.curve.begin(), solution.curve.end(),
                                  [&](const CostPoint& point) { return distance(point) <= kSame; });
    result.kind = same ? BreakEvenKind::Same : starts_paying ? BreakEvenKind::Always : BreakEvenKind::Never;
    const auto nearest =
        std::min_element(solution.curve.begin(), solution.curve.end(),
                         [&](const CostPoint& a, const CostPoint& b) { return distance(a) < distance(b); });
    result.decided_at = same ? 0 : nearest->instructions;
    return solution;
  }
  result.kind = changes.size() > 1 ? BreakEvenKind::Several
                : starts_paying    ? BreakEvenKind::Below
                                   : BreakEvenKind::Above;
  const CostPoint low = solution.curve[changes.front() - 1], high = solution.curve[changes.front()];
  if (curves.samples > 0) {
    const Sampler sampler(curves, low, high);
    const std::vector<CostPoint>& points = sampler.points();
    solution.curve.insert(solution.curve.end(), points.begin() + 1, points.end() - 1);
    std::sort(solution.curve.begin(), solution.curve.end(), by_instructions);
    result.sampled = true;
    result.scatter = sampler.scatter();
    find_ends(result.kind == BreakEvenKind::Several ? points : solution.curve, result.scatter, result);
    result.instructions = sampler.middle(result.from.instructions, result.to.instructions);
    result.decided_at =
        std::min_element(solution.curve.begin(), solution.curve.end(), [&](const CostPoint& a, const CostPoint& b) {
          return std::abs(a.instructions - result.instructions) < std::abs(b.instructions - result.instructions);
        })->instructions;
  } else {
    Bracket bracket{low.instructions, high.instructions, low.speed_up - 1, high.speed_up - 1};
    shrink(bracket, curves);
    result.from = {bracket.low, bracket.low_gain + 1};
    result.to = {bracket.high, bracket.high_gain + 1};
    result.instructions = (bracket.low + bracket.high) / 2;
    result.decided_at = bracket.low;
  }
  result.hit_cost = curves.cost_now + result.instructions;
  result.within = (result.to.instructions - result.from.instructions) / std::max(result.hit_cost, kFinest);
  return solution;
}

}  // namespace rayreplay::experiment
