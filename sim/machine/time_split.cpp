#include "sim/machine/time_split.hpp"

#include <algorithm>
#include <numeric>

namespace rayreplay::machine {

std::array<double, kSmParts> sm_parts(const SmTime& sm, std::uint64_t cycles) {
  std::array<double, kSmParts> parts{};
  if (cycles == 0) {
    return parts;
  }
  const auto all = static_cast<double>(cycles);
  const std::uint64_t of_warps = std::accumulate(sm.waits.begin(), sm.waits.end(), std::uint64_t{0});
  for (std::size_t state = 0; state < kWarpWaits && of_warps > 0; ++state) {
    parts[state] =
        static_cast<double>(sm.waits[state]) / static_cast<double>(of_warps) * static_cast<double>(sm.busy) / all;
  }
  parts[kBarrierPart] = static_cast<double>(sm.barrier) / all;
  parts[kIdlePart] = static_cast<double>(sm.idle) / all;
  parts[kWithWarpsPart] = static_cast<double>(sm.busy) / all;
  return parts;
}

std::array<PartSpread, kSmParts> sm_spread(const MemoryTime& time, std::uint64_t cycles) {
  std::array<PartSpread, kSmParts> spread{};
  if (time.sms.empty()) {
    return spread;
  }
  std::array<std::vector<double>, kSmParts> shares;
  for (const SmTime& sm : time.sms) {
    const std::array<double, kSmParts> parts = sm_parts(sm, cycles);
    for (std::size_t part = 0; part < kSmParts; ++part) {
      shares[part].push_back(parts[part]);
    }
  }
  for (std::size_t part = 0; part < kSmParts; ++part) {
    std::vector<double>& of_part = shares[part];
    spread[part].sm = static_cast<std::uint32_t>(std::ranges::max_element(of_part) - of_part.begin());
    std::ranges::sort(of_part);
    const std::size_t middle = of_part.size() / 2;
    spread[part].least = of_part.front();
    spread[part].most = of_part.back();
    spread[part].median = of_part.size() % 2 == 1 ? of_part[middle] : (of_part[middle - 1] + of_part[middle]) / 2;
  }
  return spread;
}

StageShares stage_shares(const MemoryTime& time) {
  StageShares shares{};
  std::uint64_t all = 0;
  for (const auto& states : time.stages) {
    all = std::accumulate(states.begin(), states.end(), all);
  }
  for (std::size_t stage = 0; stage < memory::kWorkStages && all > 0; ++stage) {
    for (std::size_t state = 0; state < kWarpWaits; ++state) {
      shares[stage][state] = static_cast<double>(time.stages[stage][state]) / static_cast<double>(all);
    }
  }
  return shares;
}

}  // namespace rayreplay::machine
