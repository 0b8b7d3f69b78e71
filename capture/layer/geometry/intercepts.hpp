// The tables of intercepted functions, one for each file that defines some.
#pragma once

#include <span>

#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/intercept.hpp"

namespace rayreplay::layer::geometry {

std::span<const Intercept> buffer_intercepts();
std::span<const Intercept> structure_intercepts();
std::span<const Intercept> image_intercepts();
std::span<const Intercept> host_structure_intercepts();
std::span<const Intercept> descriptor_intercepts();
std::span<const Intercept> bound_set_intercepts();

}  // namespace rayreplay::layer::geometry
