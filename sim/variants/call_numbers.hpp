// Costs of calls among the numbers that memory what-ifs vary.
//
// Contract: a number of calls is a group of sim/comparison/call_groups.hpp: "shader_costs.miss" are the instructions of
// the launch's miss calls, "shader_costs.miss:latency" their latency where it is known by itself (given, captured).
// Where the calls of a stage are known in several ways, a key names several numbers. "trace-call" are the trace calls
// of other shaders than ray generation. Another value is set as the cost of each call of the group (ID/CALL in
// [shader_costs]), so that all others keep theirs; of calls with costs by path, as a factor for the cost of each single
// call ("2x"), so that their warps still issue what their lanes' paths say. Errors: Usage for a key that names no
// stage. O(calls) each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/comparison/call_groups.hpp"
#include "sim/settings/settings.hpp"
#include "sim/variants/number_rules.hpp"

namespace rayreplay::experiment {

struct LimitedNumber {
  Quantity quantity{};  ///< without a range
  Limits limits{};
};

/// Whether a key is one of a number of calls.
[[nodiscard]] bool names_calls(std::string_view key);

/// The numbers that the key names; if the launch makes no such calls, one with the value 0.
[[nodiscard]] std::vector<LimitedNumber> numbers_of_calls(const CallGroups& calls, const std::string& key);

/// Why the number of calls cannot be varied; "": it can.
[[nodiscard]] std::string fixed_because(const Quantity& quantity);

/// Sets the costs of all calls of numbers whose value is not the present one. `values`: by quantity; quantities that
/// are no costs of calls are left alone.
void set_calls(Settings& asked, const CallGroups& calls, std::span<const Quantity> quantities,
               std::span<const double> values);

}  // namespace rayreplay::experiment
