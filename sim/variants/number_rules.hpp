// Keys that can be varied, because their values are amounts, and the limits of these values.
//
// Contract: an amount is a number with an order: more SMs, longer latencies. Numbers that choose something (a launch, a
// warp size, lines, sectors, ways) are not amounts: they must fit the values of other keys. Some keys also have values
// that are no amounts, such as 0 for "the machine's"; these are not varied. No limit counts as the most that there can
// be. Limits come from the key's range and from the keys that it must fit (machine.sms and machine.withheld_sms,
// latencies in the order of their levels, registers for one warp, resident warps), so that every value within them can
// run. `complete`: settings of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

inline constexpr std::string_view kCallCosts = "shader_costs.";
inline constexpr std::string_view kHitCost = "shader_costs.closest-hit";
inline constexpr std::string_view kModelParameter = "scheduler.model:";
inline constexpr std::string_view kL1Bytes = "machine.l1_bytes";
inline constexpr std::string_view kL2Bytes = "machine.l2_bytes";

/// The keys of experiments that can be varied, except costs of calls and parameters of scheduler models.
[[nodiscard]] const std::vector<std::string>& amount_keys();
/// "shader_costs.closest-hit, …, scheduler.model:PARAMETER, machine.sms, …": for messages.
[[nodiscard]] std::string amount_keys_text();

/// The meaning of a value begins so if it stands for a number of the machine.
inline constexpr std::string_view kTheMachines = "the machine's";
/// "" for an amount; else what the value of the key means instead: "no limit".
[[nodiscard]] std::string_view meaning_beside(std::string_view key, double value);

/// Stand-in for "no limit": a value so large that it never limits. Nothing for other keys and values.
[[nodiscard]] std::optional<double> amount_without_limit(const Settings& complete, std::string_view key,
                                                         std::uint32_t warp_size);

/// Why the row's memory time does not depend on the number, for example because another key decides: "arrival is all";
/// "": it may depend on it. `key`: of amount_keys(), or a number of the row's scheduler model.
[[nodiscard]] std::string unread_because(const Settings& complete, std::string_view key);

/// Values are multiples of the step. It is 1, except for sizes in whole sets of a cache or in words.
[[nodiscard]] double step_of(const Settings& complete, std::string_view key);

struct Limits {
  double low = 0, high = 0;
  std::string why{};  ///< another key that sets one of them: "machine.sms = 24"; "": the key's own range
};

/// Of the key's own range.
[[nodiscard]] Limits limits_of(const Parameter& declared);
[[nodiscard]] Limits limits_of(const Settings& complete, const Parameter& declared, std::uint32_t warp_size);

}  // namespace rayreplay::experiment
