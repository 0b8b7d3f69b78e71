// Events of consecutive threads, written straight into the columns of a trace.
//
// Contract: `begin` opens a ray, the other calls add events to it, `end_thread` closes a thread, `take` returns the
// batch and starts the next one with the same memory. Columns are larger than their content, so that an event costs one
// comparison, and one store a column; `finish` cuts them to size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "capture/reference/ray.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::reference {

class Recorder {
 public:
  /// `with_geometry`: fill in the optional geometry column.
  explicit Recorder(bool with_geometry) : with_geometry_(with_geometry) {}

  /// Empties the batch; its memory is kept.
  void start() {
    rays_ = 0;
    events_ = 0;
    data_.ray_offset.assign(1, 0);
    data_.event_offset.assign(1, 0);
  }

  void begin(trace::EventKind kind, std::uint16_t shader, const Ray& ray, const TraceCall& call) {
    if (rays_ == ray_capacity_) {
      grow_rays();
    }
    auto& rays = data_.rays;
    const std::size_t row = rays_++;
    rays.origin_x[row] = ray.origin.x();
    rays.origin_y[row] = ray.origin.y();
    rays.origin_z[row] = ray.origin.z();
    rays.direction_x[row] = ray.direction.x();
    rays.direction_y[row] = ray.direction.y();
    rays.direction_z[row] = ray.direction.z();
    rays.t_min[row] = ray.t_min;
    rays.t_max[row] = ray.t_max;
    rays.flags[row] = call.flags;
    rays.cull_mask[row] = 0xFF;
    rays.sbt_offset[row] = 0;
    rays.sbt_stride[row] = call.sbt_stride;
    rays.miss_index[row] = call.miss_index;
    event(kind, shader);
  }

  /// An event that carries no hit.
  void event(trace::EventKind kind, std::uint16_t shader) {
    store(kind, shader, 0, 0, 0, 0, 0, 0);
  }

  /// An event that carries a hit; `geometry` is the index in the bottom-level structure. Returns its row.
  std::size_t hit_event(trace::EventKind kind, std::uint16_t shader, float t, std::uint32_t instance,
                        std::uint16_t geometry, std::uint32_t primitive, std::uint8_t hit_kind) {
    store(kind, shader, t, instance, geometry, primitive, hit_kind, 0);
    return events_ - 1;
  }

  /// Marks the ReportIntersection at `row` as accepted.
  void accept(std::size_t row) {
    data_.events.accepted[row] = 1;
  }

  void end_thread() {
    data_.ray_offset.push_back(rays_);
    data_.event_offset.push_back(events_);
  }

  /// The batch, cut to size. Valid until the next `start`.
  const trace::ThreadData& finish() {
    resize_rays(rays_);
    resize_events(events_);
    return data_;
  }

  [[nodiscard]] const std::array<std::uint64_t, trace::kEventKinds>& counts() const {
    return counts_;
  }

 private:
  static constexpr std::size_t kFirstCapacity = 4096;

  void store(trace::EventKind kind, std::uint16_t shader, float t, std::uint32_t instance, std::uint16_t geometry,
             std::uint32_t primitive, std::uint8_t hit_kind, std::uint8_t accepted) {
    if (events_ == event_capacity_) {
      grow_events();
    }
    ++counts_[static_cast<std::size_t>(kind)];
    auto& events = data_.events;
    const std::size_t row = events_++;
    events.kind[row] = kind;
    events.shader[row] = shader;
    events.t[row] = t;
    events.instance[row] = instance;
    events.primitive[row] = primitive;
    events.hit_kind[row] = hit_kind;
    events.accepted[row] = accepted;
    if (with_geometry_) {
      events.geometry[row] = geometry;
    }
  }

  void grow_rays();
  void grow_events();
  void resize_rays(std::size_t rows);
  void resize_events(std::size_t rows);

  trace::ThreadData data_;
  std::size_t rays_ = 0;
  std::size_t ray_capacity_ = 0;
  std::size_t events_ = 0;
  std::size_t event_capacity_ = 0;
  std::array<std::uint64_t, trace::kEventKinds> counts_{};
  bool with_geometry_ = false;
};

}  // namespace rayreplay::reference
