#include "sim/comparison/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <ranges>
#include <string_view>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/split_mix.hpp"
#include "sim/comparison/ranges.hpp"

namespace rayreplay::experiment {
namespace {

constexpr double kNoGain = 1e-9;
constexpr int kMaxBracketSteps = 24;

bool gains(double speed_up) {
  return speed_up > 1 + kNoGain;
}

bool same(double speed_up) {
  return std::abs(speed_up - 1) <= kNoGain;
}

/// FNV-1a
std::uint64_t seed_of(std::string_view key) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const char letter : key) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x0000'0100'0000'01B3U;
  }
  return hash;
}

/// The value at a share of the way between two: in ratio where both are positive.
double between(const Quantity& quantity, double a, double b, double share) {
  const double value = a > 0 && b > 0 ? a * std::pow(b / a, share) : a + (b - a) * share;
  return quantity.whole ? std::round(value / quantity.step) * quantity.step : value;
}

class Judge {
 public:
  Judge(Verdict& verdict, const SpeedUpAt& speed_up, const SensitivityOptions& options)
      : verdict_(verdict), speed_up_(speed_up), options_(options), arena_(at_once()) {
    for (const Quantity& quantity : verdict.quantities) {
      now_.push_back(quantity.value);
    }
  }

  void run() {
    vary_each();
    narrow();
    vary_together();
    search();
    decide();
  }

 private:
  static int at_once() {
    return std::min(kMaxAtOnce, tbb::this_task_arena::max_concurrency());
  }

  template <class Work>
  void parallel(std::size_t count, const Work& work) {
    arena_.execute([&] { tbb::parallel_for(std::size_t{0}, count, work); });
  }

  /// A known number that is varied shows its break-even alone.
  [[nodiscard]] bool decides(const Effect& effect) const {
    return is_uncertain(verdict_.quantities[effect.quantity].origin);
  }

  [[nodiscard]] double alone(std::size_t quantity, double value) const {
    std::vector<double> values = now_;
    values[quantity] = value;
    return speed_up_(values);
  }

  [[nodiscard]] std::vector<double> points_of(const Quantity& quantity) const {
    std::vector<double> points = {quantity.low, quantity.high};
    if (quantity.high > kWideRange * quantity.low && !options_.noisy && !quantity.ends_only) {
      points.push_back(between(quantity, quantity.low, quantity.value, 0.5));
      points.push_back(between(quantity, quantity.value, quantity.high, 0.5));
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    std::erase(points, quantity.value);
    return points;
  }

  void vary_each() {
    struct Task {
      std::size_t effect = 0;
      double value = 0, speed_up = 0;
    };
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < verdict_.quantities.size(); ++i) {
      const Quantity& quantity = verdict_.quantities[i];
      if (quantity.varied()) {
        for (const double value : points_of(quantity)) {
          tasks.push_back({verdict_.effects.size(), value, 0});
        }
        verdict_.effects.push_back({.quantity = i, .points = {{quantity.value, verdict_.speed_up}}});
      }
    }
    parallel(tasks.size(), [&](std::size_t i) {
      tasks[i].speed_up = alone(verdict_.effects[tasks[i].effect].quantity, tasks[i].value);
    });
    for (const Task& task : tasks) {
      verdict_.effects[task.effect].points.push_back({task.value, task.speed_up});
    }
    for (Effect& effect : verdict_.effects) {
      arrange(effect);
      effect.from = effect.points.front().value;
      effect.to = effect.points.back().value;
    }
  }

  static void arrange(Effect& effect) {
    std::sort(effect.points.begin(), effect.points.end(),
              [](const QuantityPoint& a, const QuantityPoint& b) { return a.value < b.value; });
    const auto [least, most] =
        std::minmax_element(effect.points.begin(), effect.points.end(),
                            [](const QuantityPoint& a, const QuantityPoint& b) { return a.speed_up < b.speed_up; });
    effect.swing = least->speed_up > 0 ? std::log(most->speed_up / least->speed_up) : 0;
  }

  struct Bracket {
    std::size_t effect = 0;
    bool below = false;
    QuantityPoint inner{}, outer{};  ///< with the sign of the present, and with the other
    std::vector<QuantityPoint> timed{};
  };

  void narrow() {
    std::vector<Bracket> brackets;
    for (std::size_t i = 0; i < verdict_.effects.size(); ++i) {
      for (const bool below : {true, false}) {
        if (Bracket bracket{.effect = i, .below = below}; find_change(verdict_.effects[i], bracket)) {
          brackets.push_back(std::move(bracket));
        }
      }
    }
    parallel(brackets.size(), [&](std::size_t i) { shrink(brackets[i]); });
    for (const Bracket& bracket : brackets) {
      Effect& effect = verdict_.effects[bracket.effect];
      (bracket.below ? effect.from : effect.to) = bracket.inner.value;
      (bracket.below ? effect.changes_below : effect.changes_above) = true;
      effect.points.insert(effect.points.end(), bracket.timed.begin(), bracket.timed.end());
      arrange(effect);
    }
  }

  /// The first change of sign on the way from the present value.
  [[nodiscard]] bool find_change(const Effect& effect, Bracket& bracket) const {
    const double now = verdict_.quantities[effect.quantity].value;
    const auto present = std::find_if(effect.points.begin(), effect.points.end(),
                                      [now](const QuantityPoint& point) { return point.value == now; });
    auto inner = present;
    while (bracket.below ? inner != effect.points.begin() : inner + 1 != effect.points.end()) {
      const auto outer = bracket.below ? inner - 1 : inner + 1;
      if (gains(outer->speed_up) != verdict_.pays_now()) {
        bracket.inner = *inner;
        bracket.outer = *outer;
        return true;
      }
      inner = outer;
    }
    return false;
  }

  /// Regula falsi on the logarithm of the speed-up (Illinois); every third step halves, as do all of noisy curves.
  void shrink(Bracket& bracket) const {
    const std::size_t index = verdict_.effects[bracket.effect].quantity;
    const Quantity& quantity = verdict_.quantities[index];
    if (quantity.ends_only) {
      return;
    }
    double inner_weight = std::abs(std::log(bracket.inner.speed_up));
    double outer_weight = std::abs(std::log(bracket.outer.speed_up));
    int stayed = 0;
    const int steps = options_.noisy ? options_.noisy_steps : kMaxBracketSteps;
    for (int step = 0; step < steps; ++step) {
      const double width = std::abs(bracket.outer.value - bracket.inner.value);
      const double largest = std::max(bracket.outer.value, bracket.inner.value);
      if (width <= kSignWithin * largest || (quantity.whole && width <= quantity.step)) {
        return;
      }
      constexpr double kMargin = 0.02;
      constexpr double kHalf = 0.5;
      const bool halves = options_.noisy || step % 3 == 2 || !(inner_weight + outer_weight > 0);
      const double share =
          halves ? kHalf : std::clamp(inner_weight / (inner_weight + outer_weight), kMargin, 1 - kMargin);
      double value = between(quantity, bracket.inner.value, bracket.outer.value, share);
      if (value == bracket.inner.value || value == bracket.outer.value) {
        value = between(quantity, bracket.inner.value, bracket.outer.value, kHalf);
      }
      const QuantityPoint point{value, alone(index, value)};
      bracket.timed.push_back(point);
      const double weight = std::abs(std::log(point.speed_up));
      if (gains(point.speed_up) == verdict_.pays_now()) {
        bracket.inner = point;
        inner_weight = weight;
        outer_weight = stayed > 0 ? outer_weight / 2 : outer_weight;
        stayed = std::max(stayed, 0) + 1;
      } else {
        bracket.outer = point;
        outer_weight = weight;
        inner_weight = stayed < 0 ? inner_weight / 2 : inner_weight;
        stayed = std::min(stayed, 0) - 1;
      }
    }
  }

  void vary_together() {
    std::vector<std::size_t> uncertain;  // effects
    for (std::size_t i = 0; i < verdict_.effects.size(); ++i) {
      if (decides(verdict_.effects[i])) {
        uncertain.push_back(i);
      }
    }
    verdict_.least = verdict_.most = verdict_.speed_up;
    if (uncertain.empty()) {
      return;
    }
    const std::uint32_t count = options_.noisy ? std::min(options_.samples, kNoisySamples) : options_.samples;
    constexpr std::size_t kCorners = 2;
    verdict_.samples.assign(kCorners + count, {now_, 0});
    for (const std::size_t i : uncertain) {
      const Effect& effect = verdict_.effects[i];
      const Quantity& quantity = verdict_.quantities[effect.quantity];
      const auto [worst, best] = extremes(effect, quantity.value);
      verdict_.samples[0].values[effect.quantity] = worst;
      verdict_.samples[1].values[effect.quantity] = best;
      spread(quantity, effect.quantity, count, kCorners);
    }
    time(verdict_.samples);
    // Points of one number lie in the range of all.
    for (const std::size_t i : uncertain) {
      for (const QuantityPoint& point : verdict_.effects[i].points) {
        take(point.speed_up);
      }
      verdict_.points += verdict_.effects[i].points.size() - 1;
    }
  }

  void take(double speed_up) {
    verdict_.least = std::min(verdict_.least, speed_up);
    verdict_.most = std::max(verdict_.most, speed_up);
  }

  /// Of joint points.
  void time(std::span<JointSample> points) {
    parallel(points.size(), [&](std::size_t i) { points[i].speed_up = speed_up_(points[i].values); });
    for (const JointSample& point : points) {
      take(point.speed_up);
    }
    verdict_.points += points.size();
  }

  /// Looks for the other sign where no number has it alone; if there is one, for the numbers that it needs.
  void search() {
    if (verdict_.samples.empty() || std::ranges::any_of(verdict_.effects, [this](const Effect& effect) {
          return effect.changes() && decides(effect);
        })) {
      return;
    }
    const bool upward = !verdict_.pays_now();
    const SignSearch search{.upward = upward,
                            .rounds = options_.noisy ? kNoisySearchRounds : kSearchRounds,
                            .left_out = kLeftOutOfSearch,
                            .gains = [](double speed_up) { return gains(speed_up); }};
    const auto nearer = [upward](const JointSample& a, const JointSample& b) {
      return upward ? a.speed_up > b.speed_up : a.speed_up < b.speed_up;
    };
    const TimePoints timed = [this](std::span<JointSample> points) { time(points); };
    JointSample nearest = *std::ranges::min_element(verdict_.samples, nearer);
    const std::vector<SearchedNumber> numbers = searched();
    for (const JointSample& start : starts(nearer)) {
      if (gains(nearest.speed_up) == upward) {
        break;
      }
      const std::vector<JointSample> steps = search_sign(search, start, numbers, timed);
      verdict_.samples.insert(verdict_.samples.end(), steps.begin(), steps.end());
      if (!steps.empty() && nearer(steps.back(), nearest)) {
        nearest = steps.back();
      }
    }
    if (gains(nearest.speed_up) != upward) {
      return;
    }
    std::vector<std::size_t> order;
    for (const SearchedNumber& number : std::views::reverse(numbers)) {
      order.push_back(number.index);
    }
    verdict_.together = reduce(search, std::move(nearest), now_, order, timed);
  }

  /// Uncertain numbers by falling swing, with the values that were tried alone.
  [[nodiscard]] std::vector<SearchedNumber> searched() const {
    std::vector<const Effect*> effects;
    for (const Effect& effect : verdict_.effects) {
      if (decides(effect)) {
        effects.push_back(&effect);
      }
    }
    std::ranges::stable_sort(effects, std::greater(), &Effect::swing);
    std::vector<SearchedNumber> numbers;
    for (const Effect* effect : effects) {
      SearchedNumber& number = numbers.emplace_back(SearchedNumber{.index = effect->quantity, .values = {}});
      for (const QuantityPoint& point : effect->points) {
        number.values.push_back(point.value);
      }
    }
    return numbers;
  }

  /// Where searches begin: the nearest samples to the other sign, the best point of one number, the present point.
  template <class Nearer>
  [[nodiscard]] std::vector<JointSample> starts(const Nearer& nearer) const {
    std::vector<JointSample> starts = verdict_.samples;
    std::ranges::stable_sort(starts, nearer);
    starts.resize(std::min(starts.size(), std::size_t(options_.noisy ? kNoisySearchStarts : kSearchStarts)));
    std::optional<JointSample> alone;
    for (const Effect& effect : verdict_.effects) {
      for (const QuantityPoint& point : effect.points) {
        if (decides(effect) && point.value != verdict_.quantities[effect.quantity].value) {
          JointSample one{now_, point.speed_up};
          one.values[effect.quantity] = point.value;
          if (!alone || nearer(one, *alone)) {
            alone = std::move(one);
          }
        }
      }
    }
    if (alone && !options_.noisy) {
      starts.push_back(*std::move(alone));
    }
    if (!options_.noisy) {
      starts.push_back({now_, verdict_.speed_up});
    }
    return starts;
  }

  /// Values of the least and the largest speed-up; the present one where nothing else differs.
  static std::pair<double, double> extremes(const Effect& effect, double now) {
    const auto present = std::find_if(effect.points.begin(), effect.points.end(),
                                      [now](const QuantityPoint& point) { return point.value == now; });
    auto worst = present, best = present;
    for (auto point = effect.points.begin(); point != effect.points.end(); ++point) {
      worst = point->speed_up < worst->speed_up ? point : worst;
      best = point->speed_up > best->speed_up ? point : best;
    }
    return {worst->value, best->value};
  }

  /// One of `count` equal parts of the range for each sample, in random order.
  void spread(const Quantity& quantity, std::size_t index, std::uint32_t count, std::size_t first) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint64_t seed = seed_of(label_of(verdict_.quantities, quantity));
    for (std::uint32_t i = count; i > 1; --i) {
      std::swap(order[i - 1], order[split_mix(seed, i) % i]);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      constexpr double kHalf = 0.5;
      const double share = (order[i] + kHalf) / count;
      double value = between(quantity, quantity.low, quantity.high, share);
      if (quantity.ends_only) {
        const std::array<double, 3> ends = {quantity.low, quantity.value, quantity.high};
        value = ends[static_cast<std::size_t>(share * ends.size())];
      }
      verdict_.samples[first + i].values[index] = value;
    }
  }

  void decide() {
    std::stable_sort(verdict_.effects.begin(), verdict_.effects.end(),
                     [](const Effect& a, const Effect& b) { return a.swing > b.swing; });
    const auto first = [this](const auto& wanted) -> std::optional<std::size_t> {
      const auto found = std::find_if(verdict_.effects.begin(), verdict_.effects.end(), wanted);
      if (found == verdict_.effects.end()) {
        return std::nullopt;
      }
      return static_cast<std::size_t>(found - verdict_.effects.begin());
    };
    verdict_.decisive = first([this](const Effect& effect) { return effect.changes() && decides(effect); });
    if (verdict_.together) {
      verdict_.decisive = first([this](const Effect& effect) {
        return decides(effect) &&
               verdict_.together->values[effect.quantity] != verdict_.quantities[effect.quantity].value;
      });
    }
    const bool always_same = verdict_.same_now() && same(verdict_.least) && same(verdict_.most);
    verdict_.kind = verdict_.decisive     ? VerdictKind::CannotTell
                    : verdict_.pays_now() ? VerdictKind::Pays
                    : always_same         ? VerdictKind::ChangesNothing
                                          : VerdictKind::DoesNotPay;
  }

  Verdict& verdict_;
  const SpeedUpAt& speed_up_;
  const SensitivityOptions& options_;
  tbb::task_arena arena_;
  std::vector<double> now_;
};

}  // namespace

const char* to_string(VerdictKind kind) {
  constexpr std::array kNames = {"not-asked", "pays", "does-not-pay", "cannot-tell", "changes-nothing"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool Verdict::pays_now() const {
  return gains(speed_up);
}

bool Verdict::same_now() const {
  return same(speed_up);
}

Verdict judge(std::vector<Quantity> quantities, double speed_up_now, const SpeedUpAt& speed_up,
              const SensitivityOptions& options) {
  Verdict verdict;
  verdict.speed_up = speed_up_now;
  verdict.quantities = std::move(quantities);
  verdict.noisy = options.noisy;
  Judge(verdict, speed_up, options).run();
  return verdict;
}

}  // namespace rayreplay::experiment
