// What the right side of an axis stands for: lists and ranges. Internal to this room.
#pragma once

#include <string>

#include <toml++/toml.h>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/definition/toml_leaves.hpp"

namespace rayreplay::sweep {

/// Values of one axis are no more than this.
inline constexpr std::uint64_t kMostValues = 1'000'000;

/// Whether the table is a range, and not a part of a dotted key.
[[nodiscard]] bool is_range(const toml::table& table);

/// Every value checked by its key.
[[nodiscard]] Axis read_axis(const std::string& key, const toml::node& node, const std::string& folder,
                             const Place& at);

/// As the key takes it; Usage names `where`.
[[nodiscard]] ParameterValue checked(const std::string& key, const ParameterValue& value, const std::string& where);

/// A spec with all its parameters: "random:seed=1" of "random"; other values as they are. Usage where there is no such
/// model.
[[nodiscard]] ParameterValue resolved_spec(const std::string& key, const ParameterValue& value,
                                           const std::string& where);

/// Numbers by value, whole or not; all others exactly.
[[nodiscard]] bool same_value(const ParameterValue& left, const ParameterValue& right);

}  // namespace rayreplay::sweep
