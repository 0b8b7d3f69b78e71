// Functions of queues, and those that wait for them.
#pragma once

#include <span>

#include "capture/layer/geometry/hooks.hpp"

namespace rayreplay::layer {

[[nodiscard]] std::span<const geometry::Intercept> queue_intercepts();

}  // namespace rayreplay::layer
