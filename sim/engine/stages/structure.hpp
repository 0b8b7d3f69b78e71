// Stage "structure": the acceleration structure over the scene of an experiment's launch, and its metrics.
//
// Contract: built once (bvh/bvh.hpp) for all experiments that share it. Memory: twice the structure's bytes. Errors:
// those of build_bvh.
#pragma once

#include <memory>

#include "bvh/bvh.hpp"
#include "sim/engine/workbench.hpp"

namespace rayreplay::experiment {

struct Structure {
  std::shared_ptr<const InputData> input;  ///< the structure refers to its scene
  bvh::Bvh bvh;
};

/// Missing if the trace has no scene, or does not say which top-level structure the launch used.
[[nodiscard]] std::shared_ptr<const Structure> structure(Workbench& bench, const Experiment& experiment);

}  // namespace rayreplay::experiment
