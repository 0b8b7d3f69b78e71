// Stage "classification": why each observed intersection test was made (traversal/classification/), or each test of
// simulated hardware.
//
// Contract: `classify_launch` classifies the tests that the trace recorded; if the settings ask for simulated hardware,
// it traces the launch's rays through that and classifies its tests instead. Errors: those of
// traversal/classification/classify.hpp and simulate.hpp.
#pragma once

#include "sim/engine/workbench.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::experiment {

struct ClassificationWanted {
  bool per_test = false;
  bool per_ray = false;
};

/// Whether the settings ask for simulated hardware.
[[nodiscard]] bool simulates(const Settings& complete);
/// Usage if the settings of the simulated hardware contradict one another.
[[nodiscard]] traversal::SimulateOptions classification_of(const Settings& complete);

/// For the trace's own tests only `classification` is filled in.
[[nodiscard]] traversal::Simulation classify_launch(Workbench& bench, const Experiment& experiment,
                                                    const ClassificationWanted& wanted);

}  // namespace rayreplay::experiment
