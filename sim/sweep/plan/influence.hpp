// Which axes decide a key's value, and which stages an axis moves. Internal to this room.
//
// Contract: an axis moves the stages that read its key, those that read a key which takes its value from it and is set
// nowhere itself (cache.l1.bytes of machine.l1_bytes, every key of a machine of machine.name), and all that depend on
// these. The factors that decide a key are those of its own axis, of its spec's parameters, and of what it inherits;
// rather one too many than one too few.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/settings/parameter_table.hpp"
#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

/// Of the open table or declared key: "scheduler.model" of "scheduler.model:pool".
[[nodiscard]] std::string key_of_spec(const std::string& key);

[[nodiscard]] experiment::StageMask moved_stages(const Definition& definition, const Axis& axis);

/// Indices of factors, ascending.
[[nodiscard]] std::vector<std::size_t> deciding_factors(const Definition& definition, const std::string& key);

}  // namespace rayreplay::sweep
