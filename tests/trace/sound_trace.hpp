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

/// Facts of three pipelines for that trace: one with executables of every format of statistics, one with a dynamic
/// stack and no groups, one with nothing.
inline std::vector<PipelineFacts> sound_pipeline_facts() {
  constexpr auto kNo = kNoShader;
  constexpr auto kNoBytes = kNoStack;
  PipelineFacts first;
  first.pipeline = 2;
  first.recursion_depth = 3;
  first.groups = {{kRayGen, kNo, kNo, kNo, 96, kNoBytes, kNoBytes, kNoBytes},
                  {kNo, kHit, kAny, kInt, kNoBytes, 0, 1ULL << 40U, 16},
                  {kNo, kHit, kNo, kNo, kNoBytes, 64, kNoBytes, kNoBytes},
                  {kMiss, kNo, kNo, kNo, 8, kNoBytes, kNoBytes, kNoBytes},
                  {kCall, kNo, kNo, kNo, 0, kNoBytes, kNoBytes, kNoBytes},
                  {kNo, kNo, kNo, kNo, kNoBytes, kNoBytes, kNoBytes, kNoBytes}};
  first.executables = {{"main",
                        "a compiled ray tracing shader",
                        0x100,
                        32,
                        {{"Register Count", "registers of a thread", StatisticFormat::Uint64, 72},
                         {"spills", "", StatisticFormat::Bool, 1},
                         {"balance", "below 0", StatisticFormat::Int64, ~0ULL},
                         {"estimate", "0.25", StatisticFormat::Float64, 0x3FD0'0000'0000'0000}}},
                       {"", "", 0, 0, {}},
                       {"hits", "", 0x600, 32, {{"Register Count", "", StatisticFormat::Uint64, 40}}}};
  PipelineFacts second;
  second.pipeline = 5;
  second.dynamic_stack = true;
  second.set_stack = 4096;
  PipelineFacts third;
  third.pipeline = 0xFFFF'FFFF;
  return {first, second, third};
}

}  // namespace rayreplay::trace
