// A thread's rays and events, its warp, and the rays of the camera.
#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "sim/simt/warp_recorder.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {
namespace {

using nlohmann::ordered_json;

/// The page lists at most this many events of a thread or warp; the others are only counted.
constexpr std::uint64_t kMostEvents = 5000;

void require_thread(const trace::Launch& launch, std::uint64_t thread) {
  if (thread >= launch.size.threads()) {
    throw Error(ErrorKind::Usage, {"the launch has no such thread", "thread", std::to_string(thread),
                                   "0 to " + std::to_string(launch.size.threads() - 1), ""});
  }
}

ordered_json ray_json(const trace::Rays& rays, std::uint64_t row) {
  return {{"origin", {rays.origin_x[row], rays.origin_y[row], rays.origin_z[row]}},
          {"direction", {rays.direction_x[row], rays.direction_y[row], rays.direction_z[row]}},
          {"t_min", rays.t_min[row]},
          {"t_max", rays.t_max[row]},
          {"flags", rays.flags[row]}};
}

ordered_json place_json(trace::LaunchSize size, std::uint64_t thread) {
  return {thread % size.width, thread / size.width % size.height, thread / (std::uint64_t{size.width} * size.height)};
}

}  // namespace

ordered_json thread_facts(const trace::Trace& trace, const trace::Launch& launch, std::uint64_t thread) {
  require_thread(launch, thread);
  const trace::ThreadData& data = launch.data;
  const trace::Events& events = data.events;
  ordered_json rays = ordered_json::array();
  const std::uint64_t first_ray = data.ray_offset[thread];
  const std::uint64_t ray_count = data.ray_offset[thread + 1] - first_ray;
  for (std::uint64_t i = 0; i < std::min(ray_count, kMostEvents); ++i) {
    rays.push_back(ray_json(data.rays, first_ray + i));
  }
  ordered_json list = ordered_json::array();
  const std::uint64_t first = data.event_offset[thread];
  const std::uint64_t count = data.event_offset[thread + 1] - first;
  std::uint64_t begun = 0;
  for (std::uint64_t row = first; row < first + count; ++row) {
    if (trace::begins_ray(events.kind[row])) {
      ++begun;
    }
    if (row - first >= kMostEvents) {
      continue;
    }
    ordered_json event = {{"kind", static_cast<int>(events.kind[row])}, {"shader", events.shader[row]}};
    // A ray is one that the thread began; without the column the one begun last.
    event["ray"] = events.ray.empty() ? begun - std::min<std::uint64_t>(begun, 1) : events.ray[row];
    if (trace::carries_hit(events.kind[row])) {
      event["t"] = events.t[row];
      event["instance"] = events.instance[row];
      event["geometry"] = events.geometry.empty() ? 0 : int{events.geometry[row]};
      event["primitive"] = events.primitive[row];
    }
    list.push_back(std::move(event));
  }
  static_cast<void>(trace);
  return {{"thread", thread},        {"pixel", place_json(launch.size, thread)},
          {"ray_count", ray_count},  {"event_count", count},
          {"rays", std::move(rays)}, {"events", std::move(list)}};
}

ordered_json warp_facts(const trace::Trace& trace, const trace::Launch& launch, const experiment::Resolved& resolved,
                        const scheduler::WarpAssignment& packed, std::uint64_t thread) {
  require_thread(launch, thread);
  const auto place = std::find(packed.thread_at.begin(), packed.thread_at.end(), static_cast<std::uint32_t>(thread));
  const auto warp = static_cast<std::uint64_t>(place - packed.thread_at.begin()) / packed.warp_size;
  ordered_json lanes = ordered_json::array();
  std::vector<std::uint32_t> segment_at(packed.warp_size, scheduler::kNoSegment);
  for (std::uint32_t lane = 0; lane < packed.warp_size; ++lane) {
    const std::uint32_t one = packed.thread_at[warp * packed.warp_size + lane];
    if (one == scheduler::kNoThread) {
      lanes.push_back(nullptr);
      continue;
    }
    lanes.push_back({{"thread", one}, {"pixel", place_json(launch.size, one)}});
    if (launch.data.event_offset[one] != launch.data.event_offset[one + 1]) {
      segment_at[lane] = one;
    }
  }
  simt::WarpRecorder recorder(launch, trace.shaders, launch.data.event_offset, packed.warp_size, resolved.policy);
  const std::span<const simt::WarpEvent> events = recorder.record(segment_at);
  ordered_json list = ordered_json::array();
  std::uint64_t active = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const simt::WarpEvent& event = events[i];
    active += static_cast<std::uint64_t>(__builtin_popcountll(event.mask));
    if (i < kMostEvents) {
      // Masks have up to 64 bits; numbers of JavaScript have 53.
      list.push_back({static_cast<int>(event.kind), event.shader, event.mask & 0xFFFF'FFFFU, event.mask >> 32U});
    }
  }
  const double lane_slots = static_cast<double>(events.size()) * packed.warp_size;
  return {{"thread", thread},
          {"warp", warp},
          {"start", packed.start_rank[warp]},
          {"warp_size", packed.warp_size},
          {"packing", resolved.packings.back()},
          {"order", resolved.order},
          {"policy", simt::to_string(resolved.policy)},
          {"lanes", std::move(lanes)},
          {"event_count", events.size()},
          {"efficiency", events.empty() ? ordered_json() : ordered_json(static_cast<double>(active) / lane_slots)},
          {"events", std::move(list)}};
}

ordered_json camera_facts(const trace::Launch& launch) {
  const trace::LaunchSize size = launch.size;
  const auto has_ray = [&](std::uint64_t thread) {
    return launch.data.ray_offset[thread] != launch.data.ray_offset[thread + 1];
  };
  // The window that was recorded: the whole launch, or a part of it.
  std::uint64_t left = size.width, right = 0, top = size.height, bottom = 0;
  for (std::uint64_t thread = 0; thread < std::uint64_t{size.width} * size.height; ++thread) {
    if (has_ray(thread)) {
      left = std::min(left, thread % size.width);
      right = std::max(right, thread % size.width);
      top = std::min(top, thread / size.width);
      bottom = std::max(bottom, thread / size.width);
    }
  }
  ordered_json rays = ordered_json::array();
  if (left < right && top < bottom) {
    for (const auto& [x, y] :
         std::array<std::array<std::uint64_t, 2>, 4>{{{left, top}, {right, top}, {right, bottom}, {left, bottom}}}) {
      if (const std::uint64_t thread = y * size.width + x; has_ray(thread)) {
        rays.push_back(ray_json(launch.data.rays, launch.data.ray_offset[thread]));
      }
    }
  }
  if (rays.size() != 4) {
    return {{"corners", nullptr}};
  }
  return {{"corners", std::move(rays)}, {"window", {left, top, right - left + 1, bottom - top + 1}}};
}

}  // namespace rayreplay::viewer
