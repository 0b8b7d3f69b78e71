// The parameter `bandwidth` of models that move state.
//
// Contract: bytes per cycle of one SM; 0 stands for the machine's. Usage between 0 and kMinBandwidth, where cycle
// counts would lose their precision.
#pragma once

#include <string>

#include "base/parameters.hpp"

namespace rayreplay::scheduler {

inline constexpr double kMinBandwidth = 1e-3;

/// `what` names the moved data: "live state".
[[nodiscard]] Parameter bandwidth_parameter(const std::string& what);
[[nodiscard]] double get_bandwidth(const Parameters& parameters);

}  // namespace rayreplay::scheduler
