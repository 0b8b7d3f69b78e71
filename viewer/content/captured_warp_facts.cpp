// The warp of hardware in which a thread ran, from captured groups.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {

using nlohmann::ordered_json;

ordered_json captured_warp_facts(const trace::Trace& trace, const trace::Launch& launch, std::uint64_t thread) {
  const trace::ThreadData& data = launch.data;
  if (launch.thread_warp.empty() || data.events.group.empty()) {
    throw Error(ErrorKind::Missing, {"the trace has no warps or groups of the hardware", "captured", "", "",
                                     "capture the application on a GPU (rayreplay capture)"});
  }
  if (thread >= launch.size.threads()) {
    throw Error(ErrorKind::Usage, {"the launch has no such thread", "thread", std::to_string(thread),
                                   "0 to " + std::to_string(launch.size.threads() - 1), ""});
  }
  const std::uint32_t warp = launch.thread_warp[thread];
  const std::uint32_t size = trace.header.warp_size;
  ordered_json lanes = ordered_json::array();
  for (std::uint32_t lane = 0; lane < size; ++lane) {
    lanes.push_back(nullptr);
  }
  struct Call {
    trace::EventKind kind{};
    std::uint16_t shader = 0;
  };
  std::map<std::uint32_t, Call> groups;  // in the order in which they ran
  std::uint64_t repacked = 0;
  for (std::size_t one = 0; one < launch.thread_warp.size(); ++one) {
    if (launch.thread_warp[one] != warp || warp == trace::kNone) {
      continue;
    }
    if (launch.thread_lane[one] < size) {
      lanes[launch.thread_lane[one]] = {{"thread", one},
                                        {"pixel",
                                         {one % launch.size.width, one / launch.size.width % launch.size.height,
                                          one / (std::uint64_t{launch.size.width} * launch.size.height)}}};
    }
    for (std::uint64_t row = data.event_offset[one]; row < data.event_offset[one + 1]; ++row) {
      const std::uint32_t group = data.events.group[row];
      if (!trace::is_warp_event(data.events.kind[row]) || group >= launch.groups.size()) {
        continue;
      }
      if (launch.groups.warp[group] == warp) {
        groups[group] = {data.events.kind[row], data.events.shader[row]};
      } else {
        ++repacked;
      }
    }
  }
  ordered_json events = ordered_json::array();
  std::uint64_t active = 0;
  for (const auto& [group, call] : groups) {
    const std::uint64_t mask = launch.groups.lane_mask[group];
    active += static_cast<std::uint64_t>(__builtin_popcountll(mask));
    events.push_back({static_cast<int>(call.kind), call.shader, mask & 0xFFFF'FFFFU, mask >> 32U});
  }
  const double slots = static_cast<double>(groups.size()) * size;
  return {{"thread", thread},
          {"warp", warp},
          {"warp_size", size},
          {"repacked", repacked},
          {"sm", groups.empty() ? ordered_json() : ordered_json(launch.groups.sm[groups.begin()->first])},
          {"lanes", std::move(lanes)},
          {"event_count", groups.size()},
          {"efficiency", groups.empty() ? ordered_json() : ordered_json(static_cast<double>(active) / slots)},
          {"events", std::move(events)}};
}

}  // namespace rayreplay::viewer
