// Keys of a machine that are fitted, and the bounds of their values.
//
// Contract: `parse_fitted_key` reads "KEY" or "KEY=LOW..HIGH"; "sms" is short for "machine.sms". Only numbers of a
// machine can be fitted. Bounds lie within the key's range; those of whole numbers are whole. Without bounds they are
// half and twice the machine's value, cut to the key's range; of a value of 0 the whole range. Usage at `where`, with
// the nearest key, for an unknown key, one that is no number of a machine, and bounds that are no numbers, out of range
// or not in rising order. O(keys).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/settings/settings.hpp"

namespace rayreplay::calibration {

inline constexpr std::size_t kMaxFittedKeys = 5;

enum class BoundsFrom : std::uint8_t { Given, Factor, Range };

/// "given", "half to twice the machine's value", "range of the key"
[[nodiscard]] const char* to_string(BoundsFrom from);

struct FittedKey {
  std::string key;  ///< "machine.sms"
  std::string unit;
  double value = 0;  ///< before
  double low = 0, high = 0;
  bool whole = false;
  BoundsFrom from = BoundsFrom::Given;

  /// The number in the key's type.
  [[nodiscard]] ParameterValue in_type(double number) const;
};

/// `complete`: settings with the machine.
[[nodiscard]] FittedKey parse_fitted_key(const std::string& text, const experiment::Settings& complete,
                                         const std::string& where);
/// All of them. Usage also for no key, a key given twice, and more than kMaxFittedKeys.
[[nodiscard]] std::vector<FittedKey> parse_fitted_keys(const std::vector<std::string>& texts,
                                                       const experiment::Settings& complete, const std::string& where);

}  // namespace rayreplay::calibration
