#include "sim/memory/streams/shader_calls.hpp"

namespace rayreplay::memory {
namespace {

using trace::EventKind;
using trace::TableRegion;

void no_begin(std::uint64_t, std::uint64_t) {}

/// Calls visit(place of the range, event, ray of the thread) for the range's shader calls, and begin(place, event) for
/// its trace calls.
template <class Visit, class Begin>
void for_calls(const trace::ThreadData& data, const CallRange& range, const Visit& visit, const Begin& begin) {
  const trace::Events& events = data.events;
  std::uint64_t begun = range.first_ray;
  for (std::uint64_t event = range.first_event; event < range.last_event; ++event) {
    const EventKind kind = events.kind[event];
    if (trace::begins_ray(kind)) {
      begin(++begun - range.first_ray, event);
    } else if (trace::is_warp_event(kind)) {
      const std::uint64_t ray = events.ray.empty() ? begun - 1 : events.ray[event];
      // Wraps around for earlier rays, and for calls outside of rays.
      const std::uint64_t own = ray - range.first_ray;
      visit(own < range.rays ? own + 1 : 0, event, ray);
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
    return {kind, TableRegion::Callable, callable_record_[events.shader[event]], events.shader[event], event};
  }
  if (kind == EventKind::Miss) {
    return {kind, TableRegion::Miss, rays.miss_index[ray], events.shader[event], event};
  }
  const std::uint32_t geometry = events.geometry.empty() ? 0U : events.geometry[event];
  return {kind, TableRegion::Hit,
          structure_->scene.source(events.instance[event]).hit_group_offset + (rays.sbt_offset[ray] & 15U) +
              (rays.sbt_stride[ray] & 15U) * geometry,
          events.shader[event], event};
}

ShaderCalls ShaderTable::calls(std::span<const CallRange> ranges) const {
  const trace::ThreadData& data = launch_->data;
  ShaderCalls result;
  result.first.push_back(0);
  std::vector<std::uint64_t> next;
  for (const CallRange& range : ranges) {
    const std::uint64_t of_thread = data.ray_offset[std::uint64_t{range.thread} + 1] - data.ray_offset[range.thread];
    next.assign(range.rays + 2, 0);
    for_calls(
        data, range, [&](std::uint64_t place, std::uint64_t, std::uint64_t) { ++next[place + 1]; }, no_begin);
    next[0] = result.calls.size();
    for (std::uint64_t place = 0; place <= range.rays; ++place) {
      next[place + 1] += next[place];
      result.first.push_back(next[place + 1]);
    }
    result.calls.resize(next[range.rays + 1]);
    const std::size_t first_place = result.trace_call.size();
    result.trace_call.resize(first_place + range.rays + 1);
    for_calls(
        data, range,
        [&](std::uint64_t place, std::uint64_t event, std::uint64_t ray) {
          ShaderCall& made = result.calls[next[place]++];
          made = call(event, data.ray_offset[range.thread] + (ray < of_thread ? ray : 0));
          made.event = event;
        },
        [&](std::uint64_t place, std::uint64_t event) {
          result.trace_call[first_place + place] = {call_number(data.events.shader[event], data.events.kind[event]),
                                                    event};
        });
  }
  return result;
}

}  // namespace rayreplay::memory
