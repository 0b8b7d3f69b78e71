// A workload's metrics by the libraries themselves, without the engine of experiments: what its known answers are held
// against.
#pragma once

#include <string>

#include "sim/workloads/workload.hpp"

namespace rayreplay::test {

/// The metric that `known` names, under its settings. Keys that are not understood are a failure of the test (throws).
[[nodiscard]] double measure(const workloads::Workload& workload, const workloads::KnownAnswer& known);

}  // namespace rayreplay::test
