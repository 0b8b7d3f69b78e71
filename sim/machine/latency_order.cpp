#include "sim/machine/latency_order.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace rayreplay::machine {

std::optional<LatencyFault> latency_fault(const Latencies& latencies) {
  struct Level {
    std::string_view key;
    bool is_there;
    std::uint32_t cycles;
  };
  const std::array<Level, 3> levels = {{{"l1_latency_cycles", latencies.has_l1, latencies.l1},
                                        {"l2_latency_cycles", latencies.has_l2, latencies.l2},
                                        {"dram_latency_cycles", true, latencies.dram}}};
  const Level* nearer = nullptr;
  for (const Level& level : levels) {
    if (!level.is_there) {
      continue;
    }
    if (nearer != nullptr && nearer->cycles > level.cycles) {
      return LatencyFault{nearer->key, level.key, nearer->cycles, level.cycles};
    }
    nearer = &level;
  }
  return std::nullopt;
}

ErrorInfo error_of(const LatencyFault& fault, const std::string& prefix, std::string where) {
  return {"data from farther away comes sooner", std::move(where),
          fmt::format("{0}{1} = {2}, {0}{3} = {4}", prefix, fault.nearer, fault.nearer_cycles, fault.farther,
                      fault.farther_cycles),
          fmt::format("{0}{1} of at most {0}{2}: each is the whole time from issue to data", prefix, fault.nearer,
                      fault.farther),
          fmt::format("lower {0}{1}, or raise {0}{2} too", prefix, fault.nearer, fault.farther)};
}

}  // namespace rayreplay::machine
