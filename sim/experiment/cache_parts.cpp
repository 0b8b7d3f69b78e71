#include "sim/experiment/cache_parts.hpp"

#include <algorithm>

namespace rayreplay::experiment {

memory::CacheGeometry l1_of(const machine::Machine& machine) {
  return {machine.l1_bytes, machine.l1_line_bytes, machine.l1_ways, machine.l1_sector_bytes};
}

memory::CacheGeometry l2_of(const machine::Machine& machine) {
  return {machine.l2_bytes, machine.l2_line_bytes, machine.l2_ways, machine.l2_sector_bytes};
}

memory::CoalesceOptions coalescing_of(const CacheOptions& options, const machine::Machine& machine) {
  const memory::CacheGeometry geometry = machine.l1_bytes > 0 ? l1_of(machine) : l2_of(machine);
  memory::CoalesceOptions result = options.stream.coalescing;
  result.line_bytes = geometry.line_bytes;
  result.sector_bytes = geometry.sector();
  result.requests = options.elements || options.pixels;
  return result;
}

std::vector<std::uint64_t> window_limits(std::uint64_t requests, std::uint32_t windows) {
  std::vector<std::uint64_t> limits;
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(requests, 1, windows));
  for (std::uint64_t i = 1; i < parts; ++i) {
    limits.push_back(i * (requests / parts) + i * (requests % parts) / parts);
  }
  return limits;
}

memory::AnalysisOptions analysis_of(const CacheOptions& options, const CacheResult& result,
                                    const memory::CoalesceOptions& coalescing, std::uint64_t pixels) {
  memory::AnalysisOptions analysis;
  analysis.sms = result.machine.sms;
  analysis.l1 = l1_of(result.machine);
  analysis.l2 = l2_of(result.machine);
  analysis.l1_model = options.l1_model;
  analysis.l2_model = options.l2_model;
  analysis.l2_feed = options.l2_feed;
  analysis.reuse_engine = options.reuse_engine;
  analysis.distances = options.distances;
  analysis.coalescing = coalescing;
  analysis.window_requests = options.window_requests;
  analysis.elements = options.elements;
  analysis.element_count = result.allocations.elements();
  analysis.pixels = options.pixels ? pixels : 0;
  analysis.take_elements = options.take_elements;
  return analysis;
}

}  // namespace rayreplay::experiment
