// How far off a quantity may be, by what it is and how it is known: the one table.
//
// Contract: a pure function. docs/assumptions.md has the table with its reasons. Published, measured and given numbers
// have no range, all others decide a verdict. The size of the machine has none either: it is chosen.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/comparison/quantity.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::experiment {

/// Whether a number that is known like this decides verdicts, in both time models.
[[nodiscard]] bool is_uncertain(machine::Origin origin);

/// Keys of the machine that have a range where they are not known for sure.
[[nodiscard]] std::span<const std::string_view> varied_of_machine();

/// Sets `low`, `high` and `ends_only`.
void set_range(Quantity& quantity);
/// The same for a number that has no limit now (`meaning`): from the least plausible limit to none.
void set_range_without_limit(Quantity& quantity, std::uint32_t warp_size);
/// The same for `rt_test_latency_cycles`: tests are known as the part of a visit that its load does not take, and the
/// latency of the whole visit has the range.
void set_range_of_tests(Quantity& tests, const machine::Machine& machine);

}  // namespace rayreplay::experiment
