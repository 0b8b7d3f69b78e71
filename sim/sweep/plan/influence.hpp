// Which axes decide a key's value, and which stages an axis affects. Internal to this folder.
//
// Contract: an axis affects the stages that read its key. It affects the stages of keys that inherit from its key and
// are set nowhere themselves (cache.l1.bytes from machine.l1_bytes, every machine key from machine.name). It affects
// all stages that depend on these. The factors that decide a key are those of its own axis, of its spec's parameters,
// and of the keys it inherits from. The result may have a factor too many, never one too few.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/settings/parameter_table.hpp"
#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

/// The open table or declared key: "scheduler.model" of "scheduler.model:pool".
[[nodiscard]] std::string key_of_spec(const std::string& key);

[[nodiscard]] experiment::StageMask moved_stages(const Definition& definition, const Axis& axis);

/// True if the switch `key` is on in the base, or is an axis.
[[nodiscard]] bool may_be_on(const Definition& definition, const std::string& key);

/// Indices of factors, ascending.
[[nodiscard]] std::vector<std::size_t> deciding_factors(const Definition& definition, const std::string& key);

}  // namespace rayreplay::sweep
