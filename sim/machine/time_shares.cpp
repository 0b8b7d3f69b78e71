#include "sim/machine/time_shares.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace rayreplay::machine {

TimeShares time_shares(const MemoryTime& time, std::uint64_t cycles, std::uint64_t mshr_stall_cycles,
                       const Machine& machine) {
  TimeShares shares;
  const double all = static_cast<double>(cycles) * static_cast<double>(time.sms.size());
  if (all == 0) {
    return shares;
  }
  std::uint64_t lives = 0;
  for (const SmTime& sm : time.sms) {
    const std::uint64_t of_warps = std::accumulate(sm.waits.begin(), sm.waits.end(), std::uint64_t{0});
    lives += of_warps;
    for (std::size_t state = 0; state < kWarpWaits && of_warps > 0; ++state) {
      const double of_state = static_cast<double>(sm.waits[state]) / static_cast<double>(of_warps);
      shares.parts[state] += of_state * static_cast<double>(sm.busy) / all;
    }
    shares.parts[kBarrierPart] += static_cast<double>(sm.barrier) / all;
    shares.parts[kIdlePart] += static_cast<double>(sm.idle) / all;
  }
  shares.resident_warps = static_cast<double>(lives) / all;
  shares.busy = {time.issue_cycles / (all * machine.issue_partitions), time.ray_unit_cycles / all,
                 time.l2_cycles / static_cast<double>(cycles), time.dram_cycles / static_cast<double>(cycles),
                 static_cast<double>(mshr_stall_cycles) / all};
  shares.bound = static_cast<Resource>(std::ranges::max_element(shares.busy) - shares.busy.begin());
  return shares;
}

std::string time_verdict(const TimeShares& shares) {
  constexpr std::size_t kTold = 3;
  std::array<std::size_t, kTimeParts> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return shares.parts[a] > shares.parts[b]; });
  std::string text = fmt::format("the busiest resource is {}, {:.1f} % busy; of SM-cycles",
                                 kResourceNames[static_cast<std::size_t>(shares.bound)], 100 * shares.of_bound());
  for (std::size_t i = 0; i < kTold; ++i) {
    text += fmt::format("{} {:.1f} % {}", i == 0 ? "" : ",", 100 * shares.parts[order[i]], kTimePartNames[order[i]]);
  }
  return text;
}

}  // namespace rayreplay::machine
