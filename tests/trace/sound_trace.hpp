// A small trace without a fault, for tests that damage it or replace its launch.
#pragma once

#include "capture/trace/trace.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::trace {

/// The rows of its shaders.
enum ShaderId : std::uint16_t { kRayGen, kInt, kAny, kHit, kMiss, kCall };

/// Two threads with two rays each; a scene of one triangle geometry and one of three boxes, twice instanced.
inline Trace sound_trace() {
  Trace trace;
  using Stage = ShaderStage;
  trace.shaders = {{Stage::RayGeneration, "main", "raygen", {}},
                   {Stage::Intersection, "main", "int", {}},
                   {Stage::AnyHit, "main", "any", {}},
                   {Stage::ClosestHit, "main", "hit", {}},
                   {Stage::Miss, "main", "miss", {}},
                   {Stage::Callable, "main", "call", {}}};
  Geometry triangles;
  triangles.vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  triangles.indices = {0, 1, 2, 2, 1, 0};
  Geometry boxes;
  boxes.type = GeometryType::Boxes;
  boxes.boxes.assign(18, 0.5F);
  trace.scene.geometries = {triangles, boxes};
  trace.scene.blases = {{0, 1}, {1, 1}};
  trace.scene.instances.resize(2);
  trace.scene.instances[1].blas = 1;
  test::LaunchBuilder builder({2, 1, 1});
  builder
      .thread()                                                              //
      .begin(kRayGen)                                                        // event 0, ray 0
      .intersection(kInt, 1, 2)                                              // 1
      .report(kInt, 1, 2, 0.5F, false)                                       // 2
      .any_hit(kAny, 1, 2, 0.5F)                                             // 3
      .ignore(kAny)                                                          // 4
      .closest_hit(kHit, 0, 1, 0.75F)                                        // 5
      .occlusion_begin(kHit)                                                 // 6, ray 1
      .any_hit(kAny, 0, 0)                                                   // 7
      .terminate(kAny)                                                       // 8
      .callable(kCall);                                                      // 9
  builder.thread().callable(kCall).begin(kRayGen).miss(kMiss).begin(kMiss);  // 10 to 13, rays 2 and 3
  trace.launches = {builder.build()};
  return trace;
}

}  // namespace rayreplay::trace
