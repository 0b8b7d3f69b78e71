// A sound trace that has every optional part, for tests that damage it, with short names for its columns.
#pragma once

#include <limits>

#include "capture/trace/trace.hpp"
#include "tests/trace/sound_trace.hpp"

namespace rayreplay::trace {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline Trace sound_trace_with_everything() {
  Trace trace = sound_trace();
  trace.header.warp_size = 4;
  Launch& launch = trace.launches[0];
  launch.thread_warp = {0, 0};
  launch.thread_lane = {1, 3};
  launch.groups.warp = {0};
  launch.groups.sm = {5};
  launch.groups.lane_mask = {0xA};
  launch.groups.clock = {77};
  launch.data.events.group.assign(14, 0);
  launch.data.events.geometry.assign(14, 0);
  trace.scene.tlases = {{0, 0}, {0, 2}};
  launch.tlas = 1;
  launch.data.rays.site.assign(4, 0);
  launch.data.rays.hint.assign(4, 0);
  launch.data.rays.hint_bits.assign(4, 32);
  launch.shader_table = {{TableRegion::RayGeneration, 0, kRayGen, kNoShader, kNoShader, kNoShader, {1, 2}},
                         {TableRegion::Hit, 3, kNoShader, kHit, kAny, kInt, {}},
                         {TableRegion::Miss, 0, kNoShader, kNoShader, kNoShader, kNoShader, {}}};
  trace.block_counts = {{0, 0, 0, 2}, {1, 1, 3, 1}, {0, 0, 2, 0}, {0, 1, 0, 0}, {7, 0, 9, 4}, {2, 0, 9, 1}};
  trace.branch_counts = {{0, 0}, {1, 1}, {0, 0}, {0, 1}, {6, 12}, {7, 0}, {2, 0}, {1, 0}, {}};
  trace.load_counts = {{0, 2}, {1, 1}, {0, 0}, {0, 1}, {6, 4}, {7, 9}, {2, 3}, {kNotCompared, 3}, {2, 0}};
  trace.value_counts = {{0, 0}, {1, 1},    {0, 0},    {1, 1},    {4, 4},    {0, 2},   {7, 5},
                        {2, 2}, {0, 0, 1}, {3, 9, 1}, {2, 4, 5}, {1, 0, 1}, {2, 5, 5}};
  launch.data.events.ray = {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, kNone, 0, 0, 1};
  trace.paths = {{kRayGen, kHit, kHit}, {2, 0, 1}, {1, 1, 0, 1, 2}, {kRayGen, kHit, kHit}, {0, 0, 0}, {0, 0, 1}};
  launch.data.events.path.assign(14, 0);
  launch.data.events.path[5] = 3;
  launch.thread_path = {1, 1};
  using enum AccessKind;
  using enum AccessSpace;
  trace.access_sites = {{kRayGen, kRayGen, kHit},           {0, 0, 1}, {0, 2, 0}, {5, 9, 3}, {Load, Store, Atomic},
                        {Descriptor, Device, ShaderRecord}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 8, 16}};
  trace.pipeline_facts = sound_pipeline_facts();
  // Two views of a compressed picture with levels, one of a 3D image.
  using enum Filter;
  launch.images = {{0, 0, 1},   {1, 2, 0},  {0, 5, 0}, {0, 0, 1},   {60, 60, 8},
                   {30, 30, 9}, {1, 1, 10}, {2, 2, 1}, {5, 5, 1},   {1, 0, 9},
                   {4, 0, 0},   {5, 5, 1},  {4, 4, 1}, {16, 16, 4}, {None, Linear, Nearest}};
  launch.data.accesses = {{0, 3, 4}, {0, 0, 9, 2}, {0, 1, 2, 1}, {8, 0x1'0000'0000, 0, 16}, {0, 1, 2, 1}};
  return trace;
}

inline Launch& first(Trace& trace) {
  return trace.launches[0];
}
inline Events& events(Trace& trace) {
  return first(trace).data.events;
}
inline Rays& rays(Trace& trace) {
  return first(trace).data.rays;
}

}  // namespace rayreplay::trace
