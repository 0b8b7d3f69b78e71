#include "sim/memory/streams/call_work.hpp"

#include <algorithm>
#include <cstddef>

namespace rayreplay::memory {

std::vector<CallRun> run_together(std::vector<LaneCall>& calls, std::span<const CallWork> of_call,
                                  const LaneCosts* by_lane) {
  std::ranges::sort(calls, {}, &LaneCall::call);
  std::vector<CallRun> runs;
  std::vector<std::uint64_t> events;
  for (std::size_t first = 0; first < calls.size();) {
    const std::uint32_t call = calls[first].call;
    std::size_t end = first;
    while (end < calls.size() && calls[end].call == call) {
      ++end;
    }
    if (by_lane != nullptr && by_lane->has(call)) {
      events.clear();
      for (std::size_t lane = first; lane < end; ++lane) {
        events.push_back(calls[lane].event);
      }
      runs.push_back({call, by_lane->of(call, events)});
    } else {
      runs.push_back({call, of_call.empty() ? CallWork{} : of_call[call]});
    }
    first = end;
  }
  return runs;
}

}  // namespace rayreplay::memory
