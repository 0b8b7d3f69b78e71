// Whether a structure can have these options at all.
//
// Contract: throws what build_bvh would throw of them whatever the scene is: Usage.
#pragma once

#include "bvh/bvh.hpp"

namespace rayreplay::bvh {

void check_options(const BvhOptions& options);

}  // namespace rayreplay::bvh
