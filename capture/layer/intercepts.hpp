// The device functions that the layer intercepts.
#pragma once

#include <string_view>

#include "capture/layer/intercept.hpp"

namespace rayreplay::layer {

/// The layer's function of this name, geometry's included; null if it is not intercepted. Allocates nothing.
[[nodiscard]] const Intercept* find_intercept(std::string_view name);

}  // namespace rayreplay::layer
