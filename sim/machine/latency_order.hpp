// The order of a machine's latencies: data from farther away does not come sooner.
//
// Contract: a latency runs from issue to data, so that of a farther level includes the way past the nearer ones.
// `latency_fault` gives the first pair of neighbouring levels, among those that the machine has, of which the farther
// one has the shorter latency; equal latencies are no fault. Machine files and settings with a fault are errors. The
// interleaving itself is defined for any latencies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace rayreplay::machine {

struct Latencies {
  bool has_l1 = true, has_l2 = true;
  std::uint32_t l1 = 0, l2 = 0, dram = 0;
};

struct LatencyFault {
  std::string_view nearer, farther;  ///< "l1_latency_cycles", "l2_latency_cycles"
  std::uint32_t nearer_cycles = 0, farther_cycles = 0;
};

[[nodiscard]] std::optional<LatencyFault> latency_fault(const Latencies& latencies);

/// `prefix`: of keys, "" or "machine.".
[[nodiscard]] ErrorInfo error_of(const LatencyFault& fault, const std::string& prefix, std::string where);

}  // namespace rayreplay::machine
