// The functions of a device that the layer sees.
#pragma once

#include <string_view>

#include "capture/layer/intercept.hpp"

namespace rayreplay::layer {

/// The layer's function of this name, geometry's included; null if it does not see it. Allocates nothing.
[[nodiscard]] const Intercept* find_intercept(std::string_view name);

}  // namespace rayreplay::layer
