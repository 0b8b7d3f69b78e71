// The verdict on a scheduler model, and the numbers on which it hangs.
//
// Contract: `speed_up` gives plain's time divided by the model's for any values of the quantities (quantities.hpp). The
// *sign* of a speed-up is whether it exceeds 1 (by 10^-9); within 10^-9 of 1 the times are *equal*. Each quantity with
// a range is varied alone: at the ends of its range and, unless the speed-up is `noisy`, halfway to them (in ratio)
// where the range is wider than kWideRange. A change of sign on the way from the present value is narrowed to
// kSignWithin of the value, or by `noisy_steps` halvings where the speed-up is `noisy`. Then all uncertain quantities
// with a range (is_uncertain in ranges.hpp) are varied together, while known ones stay as they are: at the two corners
// that the single points show to be worst and best, and at a Latin hypercube (McKay, Beckman, Conover 1979), in equal
// ratios of each range, with a fixed seed by key. If the sign still holds, the other one is searched for
// (sign_search.hpp): from the kSearchStarts samples that are nearest to it, from the nearest point of one number alone
// and from the present values; where `noisy`, from the nearest sample alone. If a point is found,
// `together` has it, with all numbers back at their present values that the other sign does not need. A verdict `Pays`
// or `DoesNotPay` says that no point timed with other values of uncertain quantities has the other sign;
// `ChangesNothing`: all their times are equal. `points` counts these. It is no proof: changes of sign between timed
// points are missed. Calls of `speed_up` come from several threads at once, at most kMaxAtOnce. Deterministic. Source:
// rayreplay.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/comparison/quantity.hpp"
#include "sim/comparison/sign_search.hpp"

namespace rayreplay::experiment {

enum class VerdictKind : std::uint8_t { NotAsked, Pays, DoesNotPay, CannotTell, ChangesNothing };

[[nodiscard]] const char* to_string(VerdictKind kind);  ///< "not-asked", "pays", …

struct QuantityPoint {
  double value = 0;
  double speed_up = 0;
};

/// A quantity varied alone.
struct Effect {
  std::size_t quantity = 0;             ///< of Verdict::quantities
  std::vector<QuantityPoint> points{};  ///< by value; one is the present
  double swing = 0;                     ///< natural logarithm of the largest speed-up over the smallest
  double from = 0, to = 0;              ///< timed values around the present one between which the sign holds
  bool changes_below = false;           ///< the sign changes below `from`
  bool changes_above = false;

  [[nodiscard]] bool changes() const {
    return changes_below || changes_above;
  }
};

struct Verdict {
  VerdictKind kind = VerdictKind::NotAsked;
  double speed_up = 1;  ///< at the present values
  std::vector<Quantity> quantities;
  std::vector<Effect> effects;  ///< of those with a range, by falling swing
  /// The effect on which the sign hangs: of the uncertain ones that change it alone the one with the largest swing; if
  /// none does, of those in `together`. Empty if the sign holds.
  std::optional<std::size_t> decisive;
  /// Uncertain quantities varied together: the worst corner, the best, the hypercube, then the steps of the search.
  /// Empty if nothing uncertain varies.
  std::vector<JointSample> samples;
  /// Where no uncertain quantity changes the sign alone: the values of those that change it together. The others have
  /// their present values.
  std::optional<JointSample> together;
  double least = 1, most = 1;  ///< speed-ups over all points timed with other values of uncertain quantities
  std::size_t points = 0;      ///< how many these are
  bool noisy = false;

  [[nodiscard]] bool pays_now() const;
  [[nodiscard]] bool same_now() const;  ///< equal times at the present values
};

using SpeedUpAt = std::function<double(std::span<const double> values)>;

inline constexpr int kNoisySteps = 2;

struct SensitivityOptions {
  std::uint32_t samples = 32;  ///< of the hypercube
  bool noisy = false;          ///< the speed-up scatters, and takes longer: fewer points
  int noisy_steps = kNoisySteps;
};

inline constexpr double kWideRange = 10;     ///< a wider range gets points inside
inline constexpr double kSignWithin = 0.01;  ///< of the value
inline constexpr std::uint32_t kNoisySamples = 4;
/// Of the search: starts among the samples, and rounds from each start.
inline constexpr int kSearchStarts = 2, kSearchRounds = 8;
inline constexpr int kNoisySearchStarts = 1, kNoisySearchRounds = 4;
/// SignSearch::left_out
inline constexpr double kLeftOutOfSearch = 0.25;
inline constexpr int kMaxAtOnce = 8;

[[nodiscard]] Verdict judge(std::vector<Quantity> quantities, double speed_up_now, const SpeedUpAt& speed_up,
                            const SensitivityOptions& options);

}  // namespace rayreplay::experiment
