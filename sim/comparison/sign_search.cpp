#include "sim/comparison/sign_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/comparison/sensitivity.hpp"

namespace rayreplay::experiment {
namespace {

class CoordinateSearch {
 public:
  CoordinateSearch(const SignSearch& search, std::span<const SearchedNumber> numbers, const TimePoints& time)
      : search_(search), numbers_(numbers), time_(time), searched_(numbers.size()) {
    std::iota(searched_.begin(), searched_.end(), std::size_t{0});
  }

  std::vector<JointSample> run(JointSample at) {
    std::vector<JointSample> kept;
    for (int round = 0; round < search_.rounds && (kept.empty() || !found(at)); ++round) {
      std::optional<JointSample> best = best_of_round(at);
      if (!best) {
        break;
      }
      at = *best;
      kept.push_back(*std::move(best));
    }
    return kept;
  }

 private:
  struct Step {
    std::size_t number = 0;  ///< of numbers_
    double value = 0, speed_up = 0;
  };

  [[nodiscard]] bool nearer(double one, double other) const {
    return search_.upward ? one > other : one < other;
  }
  [[nodiscard]] bool found(const JointSample& point) const {
    return search_.gains(point.speed_up) == search_.upward;
  }

  /// The best point of a round, if it is nearer than `at`.
  std::optional<JointSample> best_of_round(const JointSample& at) {
    std::vector<Step> steps;
    std::vector<JointSample> points;
    for (const std::size_t i : searched_) {
      for (const double value : numbers_[i].values) {
        if (value != at.values[numbers_[i].index]) {
          steps.push_back({.number = i, .value = value});
          points.push_back(with(at, {&steps.back(), 1}));
        }
      }
    }
    time_until_found(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      steps[i].speed_up = points[i].speed_up;
    }
    if (points.size() == steps.size()) {
      std::vector<JointSample> together = combinations(at, steps);
      time_until_found(together);
      points.insert(points.end(), together.begin(), together.end());
    }
    const auto best = std::ranges::min_element(
        points, [this](const JointSample& a, const JointSample& b) { return nearer(a.speed_up, b.speed_up); });
    if (best == points.end() || !nearer(best->speed_up, at.speed_up)) {
      return std::nullopt;
    }
    leave_out(at, steps, *best);
    return *best;
  }

  /// Numbers that mattered least in the round from `at` to `best`.
  void leave_out(const JointSample& at, const std::vector<Step>& steps, const JointSample& best) {
    std::map<std::size_t, double> moved;
    for (const Step& step : steps) {
      if (step.speed_up > 0) {
        moved[step.number] = std::max(moved[step.number], std::abs(std::log(step.speed_up / at.speed_up)));
      }
    }
    std::vector<std::size_t> by_move = searched_;
    std::ranges::stable_sort(by_move, {}, [&moved](std::size_t number) { return moved[number]; });
    double rest = search_.left_out * std::abs(std::log(best.speed_up));
    for (const std::size_t number : by_move) {
      rest -= moved[number];
      if (rest < 0) {
        break;
      }
      std::erase(searched_, number);
    }
  }

  /// Times points up to the first batch with one of the other sign, and drops the rest.
  void time_until_found(std::vector<JointSample>& points) {
    for (std::size_t first = 0; first < points.size(); first += kMaxAtOnce) {
      const std::size_t count = std::min<std::size_t>(kMaxAtOnce, points.size() - first);
      const std::span<JointSample> batch = std::span(points).subspan(first, count);
      time_(batch);
      if (std::ranges::any_of(batch, [this](const JointSample& point) { return found(point); })) {
        points.resize(first + count);
        return;
      }
    }
  }

  [[nodiscard]] JointSample with(const JointSample& at, std::span<const Step> steps) const {
    JointSample point{at.values, 0};
    for (const Step& step : steps) {
      point.values[numbers_[step.number].index] = step.value;
    }
    return point;
  }

  /// Two of the steps that helped most, four, …, all: one step of each number.
  [[nodiscard]] std::vector<JointSample> combinations(const JointSample& at, const std::vector<Step>& steps) const {
    std::vector<Step> helped;
    for (const Step& step : steps) {
      if (!nearer(step.speed_up, at.speed_up)) {
        continue;
      }
      if (helped.empty() || helped.back().number != step.number) {
        helped.push_back(step);
      } else if (nearer(step.speed_up, helped.back().speed_up)) {
        helped.back() = step;
      }
    }
    std::ranges::stable_sort(helped, [this](const Step& a, const Step& b) { return nearer(a.speed_up, b.speed_up); });
    std::vector<JointSample> together;
    for (std::size_t count = 2; helped.size() > 1 && count < 2 * helped.size(); count *= 2) {
      together.push_back(with(at, std::span(helped).first(std::min(count, helped.size()))));
    }
    return together;
  }

  const SignSearch& search_;
  std::span<const SearchedNumber> numbers_;
  const TimePoints& time_;
  std::vector<std::size_t> searched_;  ///< of numbers_
};

}  // namespace

std::vector<JointSample> search_sign(const SignSearch& search, const JointSample& start,
                                     std::span<const SearchedNumber> numbers, const TimePoints& time) {
  return CoordinateSearch(search, numbers, time).run(start);
}

JointSample reduce(const SignSearch& search, JointSample found, std::span<const double> now,
                   std::span<const std::size_t> order, const TimePoints& time) {
  const auto give_back = [&](std::span<const std::size_t> numbers) {
    JointSample point{found.values, 0};
    for (const std::size_t number : numbers) {
      point.values[number] = now[number];
    }
    if (point.values == found.values) {
      return true;
    }
    time({&point, 1});
    const bool holds = search.gains(point.speed_up) == search.upward;
    if (holds) {
      found = std::move(point);
    }
    return holds;
  };
  std::size_t first = 0, last = order.size();  // numbers before `first` are set back
  while (first < last) {
    const std::size_t middle = first + (last - first + 1) / 2;
    if (give_back(order.subspan(first, middle - first))) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  for (std::size_t i = first; i < order.size(); ++i) {
    give_back(order.subspan(i, 1));
  }
  return found;
}

}  // namespace rayreplay::experiment
