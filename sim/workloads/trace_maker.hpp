// Builds a trace in memory, thread by thread. Internal to this folder.
//
// Contract: shaders and scene first, then for each thread `thread()` and its events in order. `finish` returns a trace
// with one launch of a single row of these threads. Scenes have one instance for each placed mesh, with its own
// bottom-level structure. Usage for more than kMaxEvents.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::workloads {

struct RayOf {
  std::array<float, 3> origin{};
  std::array<float, 3> direction{0, 0, 1};
};

struct HitOf {
  std::uint32_t instance = 0;
  std::uint32_t primitive = 0;
  float t = 0;
  bool front = true;
};

class TraceMaker {
 public:
  /// `name` of the workload; `events`: the number to come, checked before anything is allocated.
  TraceMaker(const std::string& name, std::uint32_t warp_size, std::uint64_t events);

  std::uint16_t shader(trace::ShaderStage stage, const std::string& name);
  /// An instance of triangles, three corners each; `hit_group`: its offset in the shader binding table.
  std::uint32_t add_triangles(const std::string& name, const std::vector<std::array<float, 9>>& triangles,
                              std::uint32_t hit_group, std::array<float, 3> moved_by = {0, 0, 0});
  /// An instance of boxes: lower and upper corner.
  std::uint32_t add_boxes(const std::string& name, const std::vector<std::array<float, 6>>& boxes);

  void thread();
  void begin(std::uint16_t caller, const RayOf& ray);
  void intersection(std::uint16_t shader, std::uint32_t instance, std::uint32_t primitive);
  void closest_hit(std::uint16_t shader, const HitOf& hit);
  void miss(std::uint16_t shader);

  [[nodiscard]] trace::Trace finish();

 private:
  void close_thread();
  void event(trace::EventKind kind, std::uint16_t shader, const HitOf& hit, std::uint8_t hit_kind);
  std::uint32_t add_instance(trace::Geometry geometry, std::uint32_t hit_group, std::array<float, 3> moved_by);

  trace::Trace made_;
  trace::Launch launch_;
  bool open_ = false;
};

}  // namespace rayreplay::workloads
