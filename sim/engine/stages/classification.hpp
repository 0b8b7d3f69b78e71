// Stage "classification": why each observed intersection test was made (traversal/classification/), or each test of a
// simulated hardware.
#pragma once

#include "sim/engine/workbench.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::experiment {

struct ClassificationWanted {
  bool per_test = false;
  bool per_ray = false;
};

/// Whether the settings ask for a simulated hardware.
[[nodiscard]] bool simulates(const Settings& complete);
/// Usage where the settings of the simulated hardware do not go together.
[[nodiscard]] traversal::SimulateOptions classification_of(const Settings& complete);

/// For the trace's own tests only `classification` is filled in.
[[nodiscard]] traversal::Simulation classify_launch(Workbench& bench, const Experiment& experiment,
                                                    const ClassificationWanted& wanted);

}  // namespace rayreplay::experiment
