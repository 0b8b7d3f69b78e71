// One number from which a time follows: its value, how it is known, and how far off it may be.
//
// Contract: a plain value. Numbers of calls have one key for each stage and kind; where some shaders of a stage have
// another origin than others, each origin is a number of its own, with the same key. `label_of` tells them apart. O(n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "sim/machine/origin.hpp"

namespace rayreplay::experiment {

enum class QuantityKind : std::uint8_t {
  Call,         ///< instructions of a kind of calls
  CallLatency,  ///< cycles of a kind of calls, where they are known by themselves
  CyclesPerInstruction,
  StepsPerRay,
  Registers,
  Machine,
  Parameter,
};

struct Quantity {
  QuantityKind kind = QuantityKind::Call;
  std::string key{};   ///< "shader_costs.any-hit", "machine.sms", "scheduler.model:live_state"
  std::string name{};  ///< "an any-hit call"
  std::string unit{};
  machine::Origin origin = machine::Origin::Assumed;
  double value = 0;  ///< the present one; of several calls their mean over the launch
  double low = 0, high = 0;
  bool whole = false;
  std::string meaning{};   ///< of a key that sets no limit now: "no limit"; `value` is then as much as there can be
  double step = 1;         ///< of whole ones: the values are its multiples
  bool ends_only = false;  ///< between low, value and high no other is tried
  bool of_plain = true;    ///< plain's time may depend on it

  [[nodiscard]] bool varied() const {
    return low < high;
  }
  /// Whether both are one number, perhaps with other values and ranges.
  [[nodiscard]] bool is(const Quantity& other) const {
    return key == other.key && origin == other.origin;
  }
};

/// The key; where others of the list share it, with the origin: "shader_costs.miss (counted)".
[[nodiscard]] inline std::string label_of(std::span<const Quantity> list, const Quantity& quantity) {
  return std::ranges::count(list, quantity.key, &Quantity::key) > 1
             ? fmt::format("{} ({})", quantity.key, to_string(quantity.origin))
             : quantity.key;
}

}  // namespace rayreplay::experiment
