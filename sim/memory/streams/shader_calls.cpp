#include "sim/memory/streams/shader_calls.hpp"

namespace rayreplay::memory {
namespace {

using trace::EventKind;
using trace::TableRegion;

/// Calls visit(place among the thread's, event) for the thread's shader calls.
template <class Visit>
void for_calls(const trace::ThreadData& data, std::uint64_t thread, const Visit& visit) {
  const trace::Events& events = data.events;
  const std::uint64_t rays = data.ray_offset[thread + 1] - data.ray_offset[thread];
  std::uint64_t begun = 0;
  for (std::uint64_t event = data.event_offset[thread]; event < data.event_offset[thread + 1]; ++event) {
    const EventKind kind = events.kind[event];
    if (trace::begins_ray(kind)) {
      ++begun;
    } else if (trace::is_warp_event(kind)) {
      const std::uint64_t ray = events.ray.empty() ? begun - 1 : events.ray[event];
      visit(ray < rays ? ray + 1 : 0, event);
    }
  }
}

}  // namespace

ShaderTable::ShaderTable(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure)
    : launch_(&launch), structure_(&structure), callable_record_(trace.shaders.size(), trace::kNone) {
  for (const trace::ShaderRecord& record : launch.shader_table) {
    if (record.region == TableRegion::Callable && record.general < callable_record_.size() &&
        record.index < callable_record_[record.general]) {
      callable_record_[record.general] = record.index;
    }
  }
  for (std::uint32_t shader = 0; shader < callable_record_.size(); ++shader) {
    if (callable_record_[shader] == trace::kNone) {
      callable_record_[shader] = shader;
    }
  }
}

ShaderCall ShaderTable::call(std::uint64_t event, std::uint64_t ray) const {
  const trace::Events& events = launch_->data.events;
  const trace::Rays& rays = launch_->data.rays;
  const EventKind kind = events.kind[event];
  if (kind == EventKind::Callable) {
    return {kind, TableRegion::Callable, callable_record_[events.shader[event]]};
  }
  if (kind == EventKind::Miss) {
    return {kind, TableRegion::Miss, rays.miss_index[ray]};
  }
  const std::uint32_t geometry = events.geometry.empty() ? 0U : events.geometry[event];
  return {kind, TableRegion::Hit,
          structure_->scene.source(events.instance[event]).hit_group_offset + (rays.sbt_offset[ray] & 15U) +
              (rays.sbt_stride[ray] & 15U) * geometry};
}

ShaderCalls ShaderTable::calls(std::span<const std::uint32_t> threads) const {
  const trace::ThreadData& data = launch_->data;
  ShaderCalls result;
  result.first.push_back(0);
  std::vector<std::uint64_t> next;
  for (const std::uint32_t thread : threads) {
    const std::uint64_t rays = data.ray_offset[std::uint64_t{thread} + 1] - data.ray_offset[thread];
    next.assign(rays + 2, 0);
    for_calls(data, thread, [&](std::uint64_t place, std::uint64_t) { ++next[place + 1]; });
    next[0] = result.calls.size();
    for (std::uint64_t place = 0; place <= rays; ++place) {
      next[place + 1] += next[place];
      result.first.push_back(next[place + 1]);
    }
    result.calls.resize(next[rays + 1]);
    for_calls(data, thread, [&](std::uint64_t place, std::uint64_t event) {
      result.calls[next[place]++] = call(event, data.ray_offset[thread] + (place == 0 ? 0 : place - 1));
    });
  }
  return result;
}

}  // namespace rayreplay::memory
