// Charts of the values that loads gave: for each field the shares of its most frequent values.
//
// Contract: a bar is a place of value_profile, that is a component of a load. Bars are those of the `kMostBars` places
// that most lanes executed, by falling number of lanes, equal ones in the order of `places`; places that never ran
// have none. A label has the shader's number, the field and its most frequent value. Shares are of all executions of
// the place by lanes, or by groups whose lanes all had the value. No charts where nothing ran. O(places log places +
// values).
#pragma once

#include <span>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "capture/profile/value_profile.hpp"

namespace rayreplay::report {

/// Places by falling number of lanes, equal ones in their order.
[[nodiscard]] std::vector<profile::ValuePlace> by_lanes(std::span<const profile::ValuePlace> places);

/// `top`: values of a place that have parts of their own together: the first one, and the others as one part.
[[nodiscard]] std::vector<pictures::Chart> value_charts(std::span<const profile::ValuePlace> places, std::uint32_t top);

}  // namespace rayreplay::report
