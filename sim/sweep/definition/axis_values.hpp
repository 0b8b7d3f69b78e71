// The right side of an axis: lists and ranges. Internal to this folder.
#pragma once

#include <string>

#include <toml++/toml.h>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/definition/toml_leaves.hpp"

namespace rayreplay::sweep {

/// Upper limit of values of one axis.
inline constexpr std::uint64_t kMaxValues = 1'000'000;

/// To twelve digits: platforms differ only in the last bits of a logarithm.
[[nodiscard]] double rounded(double value);

/// True for a range; false for a part of a dotted key.
[[nodiscard]] bool is_range(const toml::table& table);

/// Every value is checked by its key. `source`: the file; `where`: the axis in it.
[[nodiscard]] Axis read_axis(const std::string& key, const toml::node& node, const std::string& folder,
                             const std::string& source, const std::string& where);

/// Converts to the key's type; Usage names `where`.
[[nodiscard]] ParameterValue checked(const std::string& key, const ParameterValue& value, const std::string& where);

/// A spec with all its parameters: "random" becomes "random:seed=1". Other values are unchanged. Usage for an unknown
/// model.
[[nodiscard]] ParameterValue resolved_spec(const std::string& key, const ParameterValue& value,
                                           const std::string& where);
/// The same, but a value of an unknown model is unchanged: the plan reports it (sim/sweep/plan/check_specs.hpp).
[[nodiscard]] ParameterValue known_spec(const std::string& key, const ParameterValue& value);

/// Compares numbers by value, whole or not, and all other types exactly.
[[nodiscard]] bool same_value(const ParameterValue& left, const ParameterValue& right);

}  // namespace rayreplay::sweep
