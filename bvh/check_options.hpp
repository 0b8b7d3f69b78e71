// Checks options independently of a scene.
//
// Contract: throws the Usage errors of build_bvh that hold for any scene.
#pragma once

#include "bvh/bvh.hpp"

namespace rayreplay::bvh {

void check_options(const BvhOptions& options);

}  // namespace rayreplay::bvh
