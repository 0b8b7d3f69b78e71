// A workload's metrics by the libraries themselves, without the engine of experiments: what its known answers are held
// against.
#pragma once

#include <map>
#include <string>

#include "sim/machine/machine.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::test {

/// The metric that `known` names, under its settings. Keys that are not understood are a failure of the test (throws).
[[nodiscard]] double measure(const workloads::Workload& workload, const workloads::KnownAnswer& known);

/// All metrics of warps on this machine; a small workload's time is also held against the slow interleaving.
[[nodiscard]] std::map<std::string, double> measure_warps(const workloads::Workload& workload,
                                                          const workloads::KnownAnswer& known,
                                                          const machine::Machine& machine);

}  // namespace rayreplay::test
