// Features: the parts of the hint advisor's candidates.
//
// Contract: a feature gives a formula for every number of bits: a field's low, high or hashed bits, or one or several
// fields quantised between the 1st and 99th percentile of a sample of pending hits (every n-th, at most kSample).
// `formula(bits)` has whole-number values of at most that many bits for the launch of the features, and is "" if the
// feature has no form with that many bits. Features are in the order of trial. O(fields · pending calls), parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "scheduler-models/regrouping/hints/fields.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kSample = 1 << 16;

struct Feature {
  std::string name;
  std::uint32_t most_bits = 32;  ///< further bits add nothing
  std::function<std::string(std::uint32_t bits)> formula;
  bool is_scale = false;  ///< quantised: with more bits, smaller steps of the same values
};

/// Fields that are whole numbers of at least 0.
[[nodiscard]] std::span<const scheduler::formula::Field> whole_fields();

/// The field's largest value over all pending calls. Parallel.
[[nodiscard]] double largest_value(const scheduler::formula::FieldReader& fields, scheduler::formula::Field field);

[[nodiscard]] std::vector<Feature> make_features(const scheduler::formula::FieldReader& fields,
                                                 const scheduler::formula::FieldSet& available);

/// Concatenates the features' formulas, each with its bits, the first the most significant.
[[nodiscard]] std::string combine(const std::vector<std::pair<std::string, std::uint32_t>>& parts);

}  // namespace rayreplay::experiment
