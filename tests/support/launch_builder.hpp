// Hand-made launches for tests: threads are written down event by event.
//
//   LaunchBuilder b({4, 1, 1});
//   b.thread().begin(0).intersection(1, 0, 3, 2.5F).miss(4);
//
// Threads are appended in order of thread id; `build` fills in what the test did not care about.
#pragma once

#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::test {

class LaunchBuilder {
 public:
  explicit LaunchBuilder(trace::LaunchSize size) {
    launch_.size = size;
    launch_.data.ray_offset.push_back(0);
    launch_.data.event_offset.push_back(0);
  }

  LaunchBuilder& thread() {
    close();
    open_ = true;
    return *this;
  }
  LaunchBuilder& begin(std::uint16_t shader, float ox = 0, float oy = 0, float oz = 0, float dx = 0, float dy = 0,
                       float dz = 1) {
    return ray(trace::EventKind::Begin, shader, 0, ox, oy, oz, dx, dy, dz);
  }
  LaunchBuilder& occlusion_begin(std::uint16_t shader) {
    return ray(trace::EventKind::OcclusionBegin, shader, trace::kRayFlagSkipClosestHit, 0, 0, 0, 0, 0, 1);
  }
  LaunchBuilder& intersection(std::uint16_t shader, std::uint32_t instance = 0, std::uint32_t primitive = 0,
                              float t = 1e4F) {
    return event(trace::EventKind::Intersection, shader, t, instance, primitive, 0, 0);
  }
  LaunchBuilder& report(std::uint16_t shader, std::uint32_t instance = 0, std::uint32_t primitive = 0, float t = 1,
                        bool accepted = true) {
    return event(trace::EventKind::ReportIntersection, shader, t, instance, primitive, 0, accepted ? 1 : 0);
  }
  LaunchBuilder& any_hit(std::uint16_t shader, std::uint32_t instance = 0, std::uint32_t primitive = 0, float t = 1) {
    return event(trace::EventKind::AnyHit, shader, t, instance, primitive, 0, 0);
  }
  LaunchBuilder& ignore(std::uint16_t shader) {
    return event(trace::EventKind::IgnoreIntersection, shader, 0, 0, 0, 0, 0);
  }
  LaunchBuilder& terminate(std::uint16_t shader) {
    return event(trace::EventKind::TerminateRay, shader, 0, 0, 0, 0, 0);
  }
  LaunchBuilder& miss(std::uint16_t shader) {
    return event(trace::EventKind::Miss, shader, 0, 0, 0, 0, 0);
  }
  LaunchBuilder& closest_hit(std::uint16_t shader, std::uint32_t instance = 0, std::uint32_t primitive = 0,
                             float t = 1) {
    return event(trace::EventKind::ClosestHit, shader, t, instance, primitive, 0, 0);
  }
  LaunchBuilder& callable(std::uint16_t shader) {
    return event(trace::EventKind::Callable, shader, 0, 0, 0, 0, 0);
  }

  /// Threads not written down have no events.
  [[nodiscard]] trace::Launch build() {
    close();
    while (launch_.data.threads() < launch_.size.threads()) {
      open_ = true;
      close();
    }
    return launch_;
  }

 private:
  void close() {
    if (open_) {
      launch_.data.ray_offset.push_back(launch_.data.rays.size());
      launch_.data.event_offset.push_back(launch_.data.events.size());
      open_ = false;
    }
  }
  LaunchBuilder& ray(trace::EventKind kind, std::uint16_t shader, std::uint16_t flags, float ox, float oy, float oz,
                     float dx, float dy, float dz) {
    auto& rays = launch_.data.rays;
    rays.origin_x.push_back(ox);
    rays.origin_y.push_back(oy);
    rays.origin_z.push_back(oz);
    rays.direction_x.push_back(dx);
    rays.direction_y.push_back(dy);
    rays.direction_z.push_back(dz);
    rays.t_min.push_back(0.001F);
    rays.t_max.push_back(1e4F);
    rays.flags.push_back(flags);
    rays.cull_mask.push_back(0xFF);
    rays.sbt_offset.push_back(0);
    rays.sbt_stride.push_back(0);
    rays.miss_index.push_back(0);
    return event(kind, shader, 0, 0, 0, 0, 0);
  }
  LaunchBuilder& event(trace::EventKind kind, std::uint16_t shader, float t, std::uint32_t instance,
                       std::uint32_t primitive, std::uint8_t hit_kind, std::uint8_t accepted) {
    auto& events = launch_.data.events;
    events.kind.push_back(kind);
    events.shader.push_back(shader);
    events.t.push_back(t);
    events.instance.push_back(instance);
    events.primitive.push_back(primitive);
    events.hit_kind.push_back(hit_kind);
    events.accepted.push_back(accepted);
    return *this;
  }

  trace::Launch launch_;
  bool open_ = false;
};

}  // namespace rayreplay::test
