// Functions of queues, and those that wait for them.
#pragma once

#include <span>

#include "capture/layer/intercept.hpp"

namespace rayreplay::layer {

[[nodiscard]] std::span<const Intercept> queue_intercepts();

}  // namespace rayreplay::layer
