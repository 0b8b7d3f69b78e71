// Features: what the hint advisor builds its candidates from.
//
// Contract: a feature is a formula for every number of bits: a field's low, high or hashed bits, or one or several
// fields quantised between the 1st and 99th percentile of a sample of pending hits (every n-th, at most kSample).
// `formula(bits)` gives whole numbers of at most that many bits for the launch that the features were made for, and ""
// where so few or so many bits make no sense of it. In the order in which they are worth trying. O(fields · pending
// calls), parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scheduler-models/regrouping/hints/fields.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kSample = 1 << 16;

struct Feature {
  std::string name;
  std::uint32_t most_bits = 32;  ///< more tell nothing more
  std::function<std::string(std::uint32_t bits)> formula;
};

[[nodiscard]] std::vector<Feature> make_features(const scheduler::formula::FieldReader& fields,
                                                 const scheduler::formula::FieldSet& available);

/// The features' formulas in one number, the first the most significant, each with its bits.
[[nodiscard]] std::string combine(const std::vector<std::pair<std::string, std::uint32_t>>& parts);

}  // namespace rayreplay::experiment
