// Names of numbers for people, and the kinds of keys: the one table of the verdicts in both time models.
//
// Contract: pure functions of a key as in Quantity::key: "scheduler.cycles_per_instruction", "machine.sms",
// "scheduler.model:live_state".
#pragma once

#include <string_view>

#include "sim/comparison/quantity.hpp"

namespace rayreplay::experiment {

/// "the SMs"; "" for a key that is no amount.
[[nodiscard]] std::string_view name_of_number(std::string_view key);
/// Whether the key is a parameter by which a scheduler model charges exchanges of threads.
[[nodiscard]] bool is_charge(std::string_view key);
/// Of keys that are not costs of calls. Machine for all keys without a kind of their own.
[[nodiscard]] QuantityKind kind_of_number(std::string_view key);

}  // namespace rayreplay::experiment
