// The parameter `bandwidth` of models that move state.
//
// Contract: bytes per cycle of one SM; 0 stands for the machine's. Usage for anything between 0 and kLeastBandwidth: a
// byte would take so many cycles that times lose their meaning.
#pragma once

#include <string>

#include "base/parameters.hpp"

namespace rayreplay::scheduler {

inline constexpr double kLeastBandwidth = 1e-3;

/// `what` is moved: "live state".
[[nodiscard]] Parameter bandwidth_parameter(const std::string& what);
[[nodiscard]] double get_bandwidth(const Parameters& parameters);

}  // namespace rayreplay::scheduler
